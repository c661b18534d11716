//! Some of a run's events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Events;
use crate::event::{AnyEvent, Event, Modes};
use crate::flow::Flow;

/// A part of the [events](Events) of a run: those of one kind, of the flow and of its sub-flows, and
/// [`Failed`](crate::event::EventKind::Failed) if the run fails. Polling it drives the run; dropping it cancels the
/// run.
///
/// ```
/// use futures_util::StreamExt as _;
/// use petalflow::event::EventKind;
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
    /// The next event. `None` after the last one. As [`Events::next`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event. The run stops until the stream is polled again.
    pub async fn next(&mut self) -> Option<Event<F::State>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    pub(super) fn new(events: Events<F>, modes: Modes) -> Self {
        FilteredEvents { events, modes }
    }
}

impl<F: Flow> Events<F> {
    /// The writes of nodes only: [`NodeFinished`](crate::event::EventKind::NodeFinished),
    /// [`NodeRestored`](crate::event::EventKind::NodeRestored) and [`Interrupted`](crate::event::EventKind::Interrupted).
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// # use petalflow::prelude::*;
    /// # use petalflow::event::EventKind;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let updates: Vec<_> = Write::run(()).events().updates().collect().await;
    /// assert_eq!(updates.len(), 1);
    /// assert!(matches!(&updates[0].kind, EventKind::NodeFinished { update, .. } if update.of::<EssayDraft>().only().unwrap() == "…"));
    /// # }
    /// ```
    pub fn updates(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::UPDATES)
    }

    /// The state only: [`Values`](crate::event::EventKind::Values) and
    /// [`Interrupted`](crate::event::EventKind::Interrupted), of the flow and of its sub-flows, as with
    /// [`with_values`](Self::with_values). The last one is the final state.
    ///
    /// # Panics
    ///
    /// If the stream has already been polled.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow::prelude::*;
    /// use petalflow::event::EventKind;
    ///
    /// #[state]
    /// #[derive(Clone)]
    /// struct Count {
    ///     #[key(input, sum)]
    ///     n: u32,
    /// }
    ///
    /// #[node(Count)]
    /// async fn add() -> CountN {
    ///     CountN(1)
    /// }
    ///
    /// flow!(Add(Count) { add });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut values = Add::run(6).events().values();
    /// let mut counts = Vec::new();
    /// while let Some(event) = values.next().await {
    ///     if let EventKind::Values { state } = event.kind {
    ///         counts.push(state.n);
    ///     }
    /// }
    /// assert_eq!(counts, [6, 7]);
    /// # }
    /// ```
    pub fn values(self) -> FilteredEvents<F>
    where
        F::State: Clone,
    {
        FilteredEvents::new(self.with_values(), Modes::VALUES)
    }

    /// Emitted values only: [`Custom`](crate::event::EventKind::Custom).
    pub fn custom(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::CUSTOM)
    }

    /// The start and end of tasks only: [`NodeStarted`](crate::event::EventKind::NodeStarted),
    /// [`NodeFinished`](crate::event::EventKind::NodeFinished), [`NodeRestored`](crate::event::EventKind::NodeRestored),
    /// [`NodeSkipped`](crate::event::EventKind::NodeSkipped), [`Retry`](crate::event::EventKind::Retry) and
    /// [`NodeFailed`](crate::event::EventKind::NodeFailed).
    pub fn tasks(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::TASKS)
    }

    /// The checkpoints of a thread only: [`Checkpoint`](crate::event::EventKind::Checkpoint).
    pub fn checkpoints(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::CHECKPOINTS)
    }
}

impl_debug!([F: Flow] FilteredEvents<F>, |this| events = this.events, modes = this.modes);

impl<F: Flow> Stream for FilteredEvents<F> {
    type Item = Event<F::State>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = std::task::ready!(self.events.any.poll_next(cx));
            match event {
                Some(event) if !event.kind.modes().meets(self.modes) => {}
                event => return Poll::Ready(event.map(AnyEvent::typed)),
            }
        }
    }
}
