//! The future of a run.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::event::Sink;
use crate::exec::{Begin, Start, drive};
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::outcome::RunError;

/// A run of a flow: a future of the final state, or a stream of [events](Self::events).
///
/// The run begins when it is first polled.
///
/// # Errors
///
/// A [`RunError`] with one of these [kinds](crate::run::RunErrorKind): a node failed after its last attempt, a write
/// was rejected, managed values are missing, or the run was stopped by its limit, a timeout or a token. The error
/// contains the last committed state.
///
/// # Panics
///
/// If it is polled again after it has ended. A panic of a node does not propagate: it is a failure of the node.
///
/// # Cancel safety
///
/// Dropping the future stops the run at once and drops every running node. A `blocking` node that has begun continues,
/// and its result is discarded.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("about {topic}"))
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let essay = Write::run("petals".to_string()).await?;
/// assert_eq!(essay.draft, "about petals");
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing before it is awaited"]
pub struct Run<F: Flow>(Progress<F>);

enum Progress<F: Flow> {
    /// Not yet begun. Boxed, so that a run is cheap to move.
    Ready(Box<Start<F>>),
    Running(BoxFuture<'static, Result<F::State, RunError>>),
    Done,
}

impl<F: Flow> std::fmt::Debug for Run<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = match &self.0 {
            Progress::Ready(_) => "ready",
            Progress::Running(_) => "running",
            Progress::Done => "done",
        };
        f.debug_tuple("Run").field(&progress).finish()
    }
}

impl<F: Flow> Run<F> {
    pub(crate) fn new(start: Start<F>) -> Self {
        Run(Progress::Ready(Box::new(start)))
    }

    /// Sets the receiver of the run's events.
    pub(crate) fn send_events_to(mut self, sink: Arc<Sink<F::State>>) -> Self {
        let Progress::Ready(start) = &mut self.0 else {
            panic!("`events` must be called before the run is polled")
        };
        start.settings.extras_mut().sink = Some(sink);
        self
    }

    /// Sends the state after each superstep to the listener.
    pub(crate) fn with_values(mut self) -> Self
    where
        F::State: Clone,
    {
        let Progress::Ready(start) = &mut self.0 else {
            panic!("`values` must be asked for before the stream is polled")
        };
        start.settings.extras_mut().copy_state = Some(F::State::clone);
        self
    }

    /// Allows a thread's new input to discard open interrupts.
    pub(crate) fn discard_pending(mut self) -> Self {
        if let Progress::Ready(start) = &mut self.0
            && let Begin::Stored(stored) = &mut start.begin
        {
            stored.discard_pending();
        }
        self
    }
}

impl<F: Flow> Future for Run<F> {
    type Output = Result<F::State, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if matches!(self.0, Progress::Ready(_))
            && let Progress::Ready(start) = std::mem::replace(&mut self.0, Progress::Done)
        {
            self.0 = Progress::Running(drive(*start));
        }
        let Progress::Running(running) = &mut self.0 else {
            panic!("a run was polled after it had ended")
        };
        let result = std::task::ready!(running.as_mut().poll(cx));
        self.0 = Progress::Done;
        Poll::Ready(result)
    }
}
