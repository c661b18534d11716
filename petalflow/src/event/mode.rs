//! The subjects by which [`Events`](crate::run::Events) can be filtered.

use super::{EventKind, EventTypes};

/// A set of event subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes(u8);

impl Modes {
    pub(crate) const NONE: Self = Modes(0);
    pub(crate) const UPDATES: Self = Modes(1);
    pub(crate) const VALUES: Self = Modes(2);
    pub(crate) const CUSTOM: Self = Modes(4);
    pub(crate) const TASKS: Self = Modes(8);
    pub(crate) const CHECKPOINTS: Self = Modes(16);
    const ALL: Self = Modes(31);

    const fn and(self, other: Self) -> Self {
        Modes(self.0 | other.0)
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl<S: EventTypes> EventKind<S> {
    /// Whether the event only says how far the run is. A listener may do without such events.
    pub(crate) fn is_progress(&self) -> bool {
        matches!(
            self,
            EventKind::RunStarted
                | EventKind::SuperstepStarted { .. }
                | EventKind::SuperstepFinished
                | EventKind::NodeStarted
        )
    }

    /// The subjects of the event. The failure of a run passes every filter.
    pub(crate) fn modes(&self) -> Modes {
        match self {
            EventKind::NodeFinished { .. }
            | EventKind::NodeRestored { .. }
            | EventKind::Asked { .. } => Modes::UPDATES.and(Modes::TASKS),
            EventKind::NodeStarted
            | EventKind::NodeSkipped
            | EventKind::Retry { .. }
            | EventKind::NodeFailed { .. } => Modes::TASKS,
            EventKind::Values { .. } => Modes::VALUES,
            EventKind::Interrupted { .. } | EventKind::Sleeping { .. } => {
                Modes::UPDATES.and(Modes::VALUES)
            }
            EventKind::Custom(_) => Modes::CUSTOM,
            EventKind::Checkpoint { .. } => Modes::CHECKPOINTS,
            EventKind::Nested(nested) => nested.modes,
            EventKind::Failed { .. } => Modes::ALL,
            EventKind::RunStarted
            | EventKind::SuperstepStarted { .. }
            | EventKind::SuperstepFinished
            | EventKind::Finished { .. } => Modes::NONE,
        }
    }
}
