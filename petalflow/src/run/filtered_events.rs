//! Some of a run's events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Events;
use crate::event::{Event, Modes};
use crate::flow::Flow;

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
