//! The events of a run as a stream.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Event, EventKind, Sink};
use crate::{Flow, Namespace, Run, RunErrorKind};

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
///     if let EventKind::NodeFinished { update } = &event.kind {
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
                    match error.kind() {
                        RunErrorKind::Interrupted { interrupts } => {
                            let interrupts = interrupts.clone();
                            match error.into_state() {
                                Some(state) => {
                                    (superstep, EventKind::Interrupted { interrupts, state })
                                }
                                None => unreachable!("a run that is interrupted has a state"),
                            }
                        }
                        _ => (superstep, EventKind::Failed { error }),
                    }
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
