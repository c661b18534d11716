//! The events of a run as a stream.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{FilteredEvents, Run};
use crate::event::{Event, EventKind, Modes, Sink};
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
/// use petalflow::EventKind;
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(cx: Context) -> petalflow::Result<EssayDraft> {
///     cx.emit(&"half done")?;
///     Ok(EssayDraft("…".into()))
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
///         assert_eq!(update.draft().only().unwrap(), "…");
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
    sink: Arc<Sink<F::State>>,
}

impl<F: Flow> Events<F> {
    pub(crate) fn new(run: Run<F>, sink: Arc<Sink<F::State>>) -> Self {
        Events {
            run: Some(run),
            sink,
        }
    }
}

impl<F: Flow> Events<F> {
    /// Adds the state after each superstep to the events, as [`EventKind::Values`]: it is copied each time, which costs nothing
    /// where nobody asks. So are the states of flows inside this one, as [nested](Event::nested) events under their namespace,
    /// where their type is `Clone`; of one whose type is not, the other events are told as ever.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// # use petalflow::prelude::*;
    /// # use petalflow::EventKind;
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
    /// If the stream has been polled already.
    pub fn with_values(mut self) -> Self
    where
        F::State: Clone,
    {
        let run = self
            .run
            .take()
            .expect("to be said before the stream is polled");
        self.run = Some(run.with_values());
        self.sink.want_values();
        self
    }

    /// Only what nodes wrote, as they finish: [`NodeFinished`](EventKind::NodeFinished) and
    /// [`Interrupted`](EventKind::Interrupted).
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// # use petalflow::prelude::*;
    /// # use petalflow::EventKind;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let updates: Vec<_> = Write::run(()).events().updates().collect().await;
    /// assert_eq!(updates.len(), 1);
    /// assert!(matches!(&updates[0].kind, EventKind::NodeFinished { update, .. } if update.draft().only().unwrap() == "…"));
    /// # }
    /// ```
    pub fn updates(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::UPDATES)
    }

    /// Only the state as it grows: [`Values`](EventKind::Values) and [`Interrupted`](EventKind::Interrupted), of the flow and
    /// of the flows inside it, as with [`with_values`](Self::with_values). The last one is the final state.
    ///
    /// # Panics
    ///
    /// If the stream has been polled already.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow::prelude::*;
    /// use petalflow::EventKind;
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

    /// Only what nodes sent of their own: [`Custom`](EventKind::Custom).
    pub fn custom(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::CUSTOM)
    }

    /// Only how tasks begin and end: [`NodeStarted`](EventKind::NodeStarted), [`NodeFinished`](EventKind::NodeFinished),
    /// [`Retry`](EventKind::Retry) and [`NodeFailed`](EventKind::NodeFailed).
    pub fn tasks(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::TASKS)
    }

    /// Only a thread's checkpoints as they are made: [`Checkpoint`](EventKind::Checkpoint).
    pub fn checkpoints(self) -> FilteredEvents<F> {
        FilteredEvents::new(self, Modes::CHECKPOINTS)
    }
}

impl<F: Flow> std::fmt::Debug for Events<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl<F: Flow> Stream for Events<F> {
    type Item = Event<F::State>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.sink.pop() {
            return Poll::Ready(Some(event));
        }
        let Some(run) = &mut self.run else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(result) = Pin::new(run).poll(cx) {
            self.run = None;
            let (superstep, kind) = match result {
                Ok(state) => (0, EventKind::Finished { state }),
                Err(error) => {
                    let superstep = error.superstep();
                    let kind = match error.paused() {
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
        // The run may have left events when it returned to wait: they come before the wait.
        self.sink
            .pop()
            .map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}
