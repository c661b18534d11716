//! The events of a run as a stream.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Run;
use crate::event::{Event, EventKind, EventQueue, Sink as _};
use crate::flow::Flow;
use crate::ids::Namespace;
use crate::outcome::Paused;

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
///     ["run started", "superstep started", "node started", "custom", "node finished", "superstep finished", "finished"]
/// );
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct Events<F: Flow> {
    run: Option<Run<F>>,
    sink: Arc<EventQueue<F::State>>,
}

impl<F: Flow> Events<F> {
    pub(crate) fn new(run: Run<F>, sink: Arc<EventQueue<F::State>>) -> Self {
        Events {
            run: Some(run),
            sink,
        }
    }
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
    /// which has a cost only with this setting. Sub-flows whose state is `Clone` also send theirs, as
    /// [nested](Event::nested) events; sub-flows whose state is not send their other events only.
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
        let is_new = self.run.as_ref().is_some_and(|run| !run.is_running());
        assert!(
            is_new,
            "`with_values` must be called before the stream is polled"
        );
        self.sink.want_values(F::State::clone);
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
    /// assert_eq!(names, ["node finished", "finished"]);
    /// # }
    /// ```
    pub fn without_progress(self) -> Self {
        self.sink.leave_out_progress();
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
        let sink = EventQueue::new();
        Events::new(self.send_events_to(sink.clone()), sink)
    }
}

impl_debug!([F: Flow] Events<F>, |this| run = this.run);

impl<F: Flow> Stream for Events<F> {
    type Item = Event<F::State>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.sink.begin_poll() {
            return Poll::Ready(Some(event));
        }
        let Some(run) = &mut self.run else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(result) = Pin::new(run).poll(cx) {
            self.run = None;
            let (superstep, kind) = match result {
                Ok(state) => (
                    self.sink.newest_superstep.get(),
                    EventKind::Finished { state },
                ),
                Err(error) => {
                    let superstep = error.superstep();
                    let kind = match error.into_paused() {
                        Ok(Paused { state, interrupts }) => {
                            EventKind::Interrupted { interrupts, state }
                        }
                        Err(error) => EventKind::Failed { error },
                    };
                    (superstep, kind)
                }
            };
            self.sink.send(Event {
                namespace: Namespace::ROOT,
                superstep,
                task: None,
                kind,
            });
        }
        // The run can queue events before it returns `Pending`: these are returned first.
        self.sink
            .end_poll(cx)
            .map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}
