//! The events of a run as a stream.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::{AnyEvents, Run};
use crate::erased::copy_of;
#[cfg(doc)]
use crate::event::EventKind;
use crate::event::{AnyEvent, Event};
use crate::flow::Flow;

/// The events of a run. Polling it drives the run; dropping it cancels the run.
///
/// The last event is [`Finished`](EventKind::Finished), [`Interrupted`](EventKind::Interrupted) or
/// [`Failed`](EventKind::Failed).
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow::prelude::*;
/// use petalflow::event::EventKind;
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(cx: Context) -> EssayDraft {
///     cx.emit("half done");
///     EssayDraft("…".into())
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut events = Write::run(()).events();
/// let mut names = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::NodeFinished { update, .. } = &event.kind {
///         assert_eq!(update.of::<EssayDraft>().only().unwrap(), "…");
///     }
///     names.push(event.kind.name());
/// }
/// assert_eq!(
///     names,
///     ["run_started", "superstep_started", "node_started", "custom", "node_finished", "superstep_finished", "finished"]
/// );
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct Events<F: Flow> {
    pub(super) any: AnyEvents,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Events<F> {
    /// The next event. `None` after the last one. Programs need no other crate to read the stream with it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event. The run stops until the stream is polled again.
    pub async fn next(&mut self) -> Option<Event<F::State>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Adds the state after each superstep to the events, as [`EventKind::Values`]. The state is cloned each time,
    /// which has a cost only with this setting. Sub-flows also send theirs, as [nested](Event::nested) events.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// # use petalflow::prelude::*;
    /// # use petalflow::event::EventKind;
    /// # #[state]
    /// # #[derive(Clone)]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[state]
    /// # #[derive(Clone)]
    /// # struct Book { essay: String }
    /// # flow!(WriteBook(Book) { chapter; node chapter: Write { in: || (), out: |essay: Essay| BookEssay(essay.draft) }; });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let events: Vec<_> = WriteBook::run(()).events().values().collect().await;
    /// let drafts: Vec<_> = events.iter().filter_map(|event| match &event.nested::<Essay>()?.kind {
    ///     EventKind::Values { state } => Some((event.namespace.as_str(), &*state.draft)),
    ///     _ => None,
    /// }).collect();
    /// assert_eq!(drafts, [("chapter", "…")]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the stream has already been polled.
    pub fn with_values(self) -> Self
    where
        F::State: Clone,
    {
        self.any.want_values(copy_of::<F::State>());
        self
    }
}

impl<F: Flow> Events<F> {
    /// Leaves out the events that only say how far the run is: [`RunStarted`](EventKind::RunStarted),
    /// [`SuperstepStarted`](EventKind::SuperstepStarted), [`NodeStarted`](EventKind::NodeStarted) and
    /// [`SuperstepFinished`](EventKind::SuperstepFinished), of the flow and of its sub-flows. They are not made, which is
    /// quicker than to ignore them.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = Write::run(()).events().without_progress();
    /// let mut names = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     names.push(event.kind.name());
    /// }
    /// assert_eq!(names, ["node_finished", "finished"]);
    /// # }
    /// ```
    pub fn without_progress(self) -> Self {
        self.any.leave_out_progress();
        self
    }
}

impl<F: Flow> Run<F> {
    /// The events of the run as a stream. The stream drives the run: dropping it cancels the run.
    ///
    /// # Panics
    ///
    /// If the run has already been polled.
    pub fn events(self) -> Events<F> {
        Events {
            any: AnyEvents::of(self.into_any()),
            flow: PhantomData,
        }
    }
}

impl_debug!([F: Flow] Events<F>, |this| any = this.any);

impl<F: Flow> Stream for Events<F> {
    type Item = Event<F::State>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.any.poll_next(cx));
        Poll::Ready(event.map(AnyEvent::typed))
    }
}
