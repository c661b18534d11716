//! The future of a run, without the types of its flow.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::erased::StateBox;
use crate::error::catch;
use crate::event::Sink;
use crate::exec::{Begin, BeginBarrier, Start, drive};
use crate::flow::AnyFlow;
use crate::future::BoxFuture;
use crate::outcome::RunError;

/// A [`Run`](super::Run) without the types of its flow.
pub(crate) struct AnyRun(Progress);

/// Three pointers, so that the task of a runtime that only awaits a run is small.
enum Progress {
    Running(Running),
    /// It runs when it is polled. `None` if it has ended.
    Waiting(Option<Box<Waiting>>),
}

/// A run that was begun. A panic that nothing inside it has caught ends it with an error.
struct Running {
    future: BoxFuture<'static, Result<StateBox, RunError>>,
    /// Its name is part of the error.
    flow: Arc<dyn AnyFlow>,
}

impl Running {
    fn start(start: Start) -> Self {
        let flow = Arc::clone(&start.flow);
        let future = catch(|| drive(start)).unwrap_or_else(|panicked| {
            let error = RunError::panicked(panicked, flow.name(), 0);
            Box::pin(std::future::ready(Err(error)))
        });
        Running { future, flow }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<StateBox, RunError>> {
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
enum Waiting {
    /// Not yet begun.
    Ready(Start),
    /// On a thread: it has stored what it begins with.
    Begun(Running, Arc<BeginBarrier>),
}

impl std::fmt::Debug for AnyRun {
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

impl AnyRun {
    pub(crate) fn new(start: Start) -> Self {
        Self::waiting(Waiting::Ready(start))
    }

    /// A run that ends with this error before it begins.
    pub(crate) fn failed(flow: Arc<dyn AnyFlow>, error: RunError) -> Self {
        let future = Box::pin(std::future::ready(Err(error)));
        AnyRun(Progress::Running(Running { future, flow }))
    }

    fn waiting(waiting: Waiting) -> Self {
        AnyRun(Progress::Waiting(Some(Box::new(waiting))))
    }

    /// Sets the receiver of the run's events.
    pub(crate) fn send_events_to(mut self, sink: Arc<dyn Sink>) -> Self {
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
    // Boxed: each crate that awaits an `async fn` compiles it again.
    pub(crate) fn begin(mut self) -> BoxFuture<'static, Result<Self, RunError>> {
        Box::pin(async move {
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
        })
    }

    /// The run, if it has not begun.
    fn ready(&mut self) -> Option<&mut Start> {
        match &mut self.0 {
            Progress::Waiting(Some(waiting)) => match &mut **waiting {
                Waiting::Ready(start) => Some(start),
                Waiting::Begun(..) => None,
            },
            _ => None,
        }
    }

    /// The future that runs it.
    fn start(self) -> Running {
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

impl Future for AnyRun {
    type Output = Result<StateBox, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            if let Progress::Running(running) = &mut self.0 {
                let result = std::task::ready!(running.poll(cx));
                self.0 = Progress::Waiting(None);
                return Poll::Ready(result);
            }
            let run = AnyRun(std::mem::replace(&mut self.0, Progress::Waiting(None)));
            self.0 = Progress::Running(run.start());
        }
    }
}
