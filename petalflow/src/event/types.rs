//! Events with the types of a state, and without them.

use super::{Event, EventKind};
use crate::erased::{EffectsBox, StateBox, into_state, into_update};
use crate::state::{KeyMeta, KeySet, State, Update};

/// The types of the values in an event: those of a [`State`], or with `Erased` those of any state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "not a state",
    note = "annotate the struct with `#[state]`"
)]
pub trait EventTypes {
    /// A state.
    type State;
    /// The writes of a node.
    type Update;

    /// The keys that were written, and all keys of the state. Without an update, the keys are not known.
    fn written(update: &Self::Update) -> (KeySet, &'static [KeyMeta]);
}

#[diagnostic::do_not_recommend]
impl<S: State> EventTypes for S {
    type State = S;
    type Update = Update<S>;

    fn written(update: &Update<S>) -> (KeySet, &'static [KeyMeta]) {
        (update.written(), S::KEYS)
    }
}

/// The values of an event of the engine, which does not know the type of the state.
#[derive(Debug)]
pub(crate) enum Erased {}

impl EventTypes for Erased {
    type State = StateBox;
    type Update = EffectsBox;

    fn written(effects: &EffectsBox) -> (KeySet, &'static [KeyMeta]) {
        (effects.written(), effects.ty().keys)
    }
}

/// An event of the engine.
pub(crate) type AnyEvent = Event<Erased>;

/// The kind of an event of the engine.
pub(crate) type AnyEventKind = EventKind<Erased>;

impl AnyEvent {
    /// The event with the types of its state.
    pub(crate) fn typed<S: State>(self) -> Event<S> {
        Event {
            namespace: self.namespace,
            superstep: self.superstep,
            task: self.task,
            kind: self.kind.typed(),
        }
    }
}

impl AnyEventKind {
    fn typed<S: State>(self) -> EventKind<S> {
        match self {
            EventKind::RunStarted => EventKind::RunStarted,
            EventKind::SuperstepStarted { nodes } => EventKind::SuperstepStarted { nodes },
            EventKind::NodeStarted => EventKind::NodeStarted,
            EventKind::NodeFinished { update, cached } => EventKind::NodeFinished {
                update: into_update::<S>(update),
                cached,
            },
            EventKind::NodeRestored { update } => EventKind::NodeRestored {
                update: into_update::<S>(update),
            },
            EventKind::NodeSkipped => EventKind::NodeSkipped,
            EventKind::Asked { interrupts } => EventKind::Asked { interrupts },
            EventKind::Retry { error, wait } => EventKind::Retry { error, wait },
            EventKind::NodeFailed { error } => EventKind::NodeFailed { error },
            EventKind::Custom(event) => EventKind::Custom(event),
            EventKind::SuperstepFinished => EventKind::SuperstepFinished,
            EventKind::Values { state } => EventKind::Values {
                state: into_state(state),
            },
            EventKind::Checkpoint { checkpoint } => EventKind::Checkpoint { checkpoint },
            EventKind::Nested(event) => EventKind::Nested(event),
            EventKind::Finished { state } => EventKind::Finished {
                state: into_state(state),
            },
            EventKind::Interrupted {
                interrupts,
                wakes,
                state,
            } => EventKind::Interrupted {
                interrupts,
                wakes,
                state: into_state(state),
            },
            EventKind::Sleeping { until, state } => EventKind::Sleeping {
                until,
                state: into_state(state),
            },
            EventKind::Failed { error } => EventKind::Failed { error },
        }
    }
}
