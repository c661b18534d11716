//! Some of a run's events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Event, EventKind, Events};
use crate::{Flow, State};

/// What events are about; one may be of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes(u8);

impl Modes {
    pub(super) const NONE: Self = Modes(0);
    pub(super) const UPDATES: Self = Modes(1);
    pub(super) const VALUES: Self = Modes(2);
    pub(super) const CUSTOM: Self = Modes(4);
    pub(super) const TASKS: Self = Modes(8);
    pub(super) const CHECKPOINTS: Self = Modes(16);
    const ALL: Self = Modes(31);

    const fn and(self, other: Self) -> Self {
        Modes(self.0 | other.0)
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl<S: State> EventKind<S> {
    /// What the event is about. A run that fails says so to everybody who listens.
    pub(super) fn modes(&self) -> Modes {
        match self {
            EventKind::NodeFinished { .. } => Modes::UPDATES.and(Modes::TASKS),
            EventKind::NodeStarted | EventKind::Retry { .. } | EventKind::NodeFailed { .. } => {
                Modes::TASKS
            }
            EventKind::Values { .. } => Modes::VALUES,
            EventKind::Interrupted { .. } => Modes::UPDATES.and(Modes::VALUES),
            EventKind::Custom { .. } => Modes::CUSTOM,
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

/// Some of the [events](Events) of a run: those that one of its methods names, of the flow and of the flows inside it, and
/// [`Failed`](EventKind::Failed) if the run fails. Polling it drives the run; dropping it cancels the run.
///
/// ```
/// use futures_util::StreamExt as _;
/// use petalflow::EventKind;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mut updates = Write::run(()).events().updates();
/// let event = updates.next().await.expect("a node writes");
/// assert!(matches!(event.kind, EventKind::NodeFinished { .. }));
/// # Ok(())
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct FilteredEvents<F: Flow> {
    events: Events<F>,
    modes: Modes,
}

impl<F: Flow> FilteredEvents<F> {
    pub(super) fn new(events: Events<F>, modes: Modes) -> Self {
        FilteredEvents { events, modes }
    }
}

impl<F: Flow> std::fmt::Debug for FilteredEvents<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventsOf")
            .field("events", &self.events)
            .field("modes", &self.modes)
            .finish()
    }
}

impl<F: Flow> Stream for FilteredEvents<F> {
    type Item = Event<F::State>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = std::task::ready!(Pin::new(&mut self.events).poll_next(cx));
            match event {
                Some(event) if !event.kind.modes().meets(self.modes) => {}
                event => return Poll::Ready(event),
            }
        }
    }
}
