//! The future of a run.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::error::catch;
use crate::event::Sink;
use crate::exec::{Begin, BeginBarrier, Start, drive};
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
/// If it is polled again after it has ended. No panic of the program's code propagates: that of a node is a failure of the
/// node, and any other ends the run with [`RunErrorKind::Panic`](crate::run::RunErrorKind::Panic).
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

/// Three pointers, so that the task of a runtime that only awaits a run is small.
enum Progress<F: Flow> {
    Running(Running<F>),
    /// It runs when it is polled. `None` if it has ended.
    Waiting(Option<Box<Waiting<F>>>),
}

/// A run that was begun. A panic that nothing inside it has caught ends it with an error.
struct Running<F: Flow> {
    future: BoxFuture<'static, Result<F::State, RunError>>,
    /// Its name is part of the error.
    flow: Arc<F>,
}

impl<F: Flow> Running<F> {
    fn start(start: Start<F>) -> Self {
        let flow = Arc::clone(&start.flow);
        let future = catch(|| drive(start)).unwrap_or_else(|panicked| {
            let error = RunError::panicked(panicked, flow.name(), 0);
            Box::pin(std::future::ready(Err(error)))
        });
        Running { future, flow }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<F::State, RunError>> {
        let polled = catch(|| self.future.as_mut().poll(cx));
        polled.unwrap_or_else(|panicked| {
            let error = RunError::panicked(panicked, self.flow.name(), 0);
            Poll::Ready(Err(error))
        })
    }
}

#[allow(
    clippy::large_enum_variant,
    reason = "it is boxed, and few runs are begun apart from their first poll"
)]
enum Waiting<F: Flow> {
    /// Not yet begun.
    Ready(Start<F>),
    /// On a thread: it has stored what it begins with.
    Begun(Running<F>, Arc<BeginBarrier<F::State>>),
}

impl<F: Flow> std::fmt::Debug for Run<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = match &self.0 {
            Progress::Running(_) => "running",
            Progress::Waiting(None) => "done",
            Progress::Waiting(Some(waiting)) => match &**waiting {
                Waiting::Ready(_) => "ready",
                Waiting::Begun(..) => "begun",
            },
        };
        f.debug_tuple("Run").field(&progress).finish()
    }
}

impl<F: Flow> Run<F> {
    pub(crate) fn new(start: Start<F>) -> Self {
        Self::waiting(Waiting::Ready(start))
    }

    fn waiting(waiting: Waiting<F>) -> Self {
        Run(Progress::Waiting(Some(Box::new(waiting))))
    }

    /// Sets the receiver of the run's events.
    pub(crate) fn send_events_to(mut self, sink: Arc<dyn Sink<F::State>>) -> Self {
        let Progress::Waiting(Some(waiting)) = &mut self.0 else {
            panic!("`events` must be called before the run is polled")
        };
        match &mut **waiting {
            Waiting::Ready(start) => start.settings.extras_mut().sink = Some(sink),
            Waiting::Begun(_, begin_barrier) => {
                let _ = begin_barrier.sink.set(sink);
            }
        }
        self
    }

    /// Whether it runs already, or has ended.
    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.0, Progress::Waiting(Some(_)))
    }

    /// On a thread: runs until what the run begins with is in the store.
    pub(crate) async fn begin(mut self) -> Result<Self, RunError> {
        let Some(Begin::Stored(stored)) = self.ready().map(|start| &mut start.begin) else {
            return Ok(self);
        };
        let begin_barrier = stored.stop_when_stored();
        let mut running = self.start();
        let ended = poll_fn(|cx| match running.poll(cx) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending if begin_barrier.is_reached() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        if let Some(result) = ended.await {
            // Middleware around the run has ended it without the thread.
            let state = result?;
            running.future = Box::pin(std::future::ready(Ok(state)));
        }
        Ok(Self::waiting(Waiting::Begun(running, begin_barrier)))
    }

    /// The run, if it has not begun.
    fn ready(&mut self) -> Option<&mut Start<F>> {
        match &mut self.0 {
            Progress::Waiting(Some(waiting)) => match &mut **waiting {
                Waiting::Ready(start) => Some(start),
                Waiting::Begun(..) => None,
            },
            _ => None,
        }
    }

    /// The future that runs it.
    fn start(self) -> Running<F> {
        match self.0 {
            Progress::Running(running) => running,
            Progress::Waiting(Some(waiting)) => match *waiting {
                Waiting::Ready(start) => Running::start(start),
                Waiting::Begun(running, _) => running,
            },
            Progress::Waiting(None) => panic!("a run was polled after it had ended"),
        }
    }

    /// Allows a thread's new input to discard open interrupts.
    pub(crate) fn discard_pending(mut self) -> Self {
        if let Some(Begin::Stored(stored)) = self.ready().map(|start| &mut start.begin) {
            stored.discard_pending();
        }
        self
    }
}

impl<F: Flow> Future for Run<F> {
    type Output = Result<F::State, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            if let Progress::Running(running) = &mut self.0 {
                let result = std::task::ready!(running.poll(cx));
                self.0 = Progress::Waiting(None);
                return Poll::Ready(result);
            }
            let run = Run(std::mem::replace(&mut self.0, Progress::Waiting(None)));
            self.0 = Progress::Running(run.start());
        }
    }
}
