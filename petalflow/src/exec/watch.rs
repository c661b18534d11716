//! One await of the run: panics caught, cancellation and deadlines heard.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::CancelToken;
use crate::error::Panicked;
use crate::middleware::BoxFuture;
use crate::{BoxError, FailureKind};

/// How a node's attempt failed. Behind a pointer, as [`Abort`](super::abort::Abort) is: what every task returns is then one
/// word, and in a register.
#[derive(Debug)]
pub(crate) struct Failure(Box<(FailureKind, BoxError)>);

impl Failure {
    fn new(kind: FailureKind, error: impl Into<BoxError>) -> Self {
        Failure(Box::new((kind, error.into())))
    }

    pub(crate) fn kind(&self) -> FailureKind {
        self.0.0
    }

    pub(crate) fn source(&self) -> &BoxError {
        &self.0.1
    }

    pub(crate) fn into_source(self) -> BoxError {
        self.0.1
    }

    #[cold]
    pub(crate) fn error(error: BoxError) -> Self {
        Failure::new(FailureKind::Error, error)
    }

    #[cold]
    pub(crate) fn panic(payload: Payload) -> Self {
        Failure::new(FailureKind::Panic, Panicked::new(&*payload))
    }

    pub(crate) fn timeout(after: Duration) -> Self {
        let words = format!("took longer than its timeout of {after:?}");
        Failure::new(FailureKind::Timeout, words)
    }

    pub(crate) fn idle(after: Duration) -> Self {
        let words = format!("showed no sign of life for {after:?}, its idle timeout");
        Failure::new(FailureKind::Idle, words)
    }
}

/// Why the run stops although no node failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    RunTimeout,
    SuperstepTimeout,
}

/// What may stop a run while it waits. A run that nothing can stop has none of this.
#[derive(Default)]
pub(crate) struct Watch {
    cancel: Option<(CancelToken, BoxFuture<'static, ()>)>,
    run: Option<Pin<Box<Sleep>>>,
    superstep: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl Watch {
    /// `None` where nothing is to be watched.
    pub(crate) fn new(
        cancel: Option<&CancelToken>,
        run: Option<Duration>,
        superstep: Option<Duration>,
    ) -> Option<Box<Self>> {
        if cancel.is_none() && run.is_none() && superstep.is_none() {
            return None;
        }
        let sleep = |after: Duration| Box::pin(sleep_until(Instant::now() + after));
        Some(Box::new(Watch {
            cancel: cancel.map(|token| {
                let cancelled = token.clone();
                (
                    token.clone(),
                    Box::pin(async move { cancelled.cancelled().await }) as BoxFuture<'static, ()>,
                )
            }),
            run: run.map(sleep),
            superstep: superstep.map(|after| (after, sleep(after))),
        }))
    }

    /// Starts the superstep's clock; says whether the run has been cancelled.
    pub(crate) fn begin_superstep(&mut self) -> Option<Stop> {
        if let Some((after, sleep)) = &mut self.superstep {
            sleep.as_mut().reset(Instant::now() + *after);
        }
        self.cancel
            .as_ref()
            .filter(|(token, _)| token.is_cancelled())
            .map(|_| Stop::Cancelled)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Stop> {
        if let Some((_, cancelled)) = &mut self.cancel
            && cancelled.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Stop::Cancelled);
        }
        if let Some(run) = &mut self.run
            && run.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Stop::RunTimeout);
        }
        if let Some((_, superstep)) = &mut self.superstep
            && superstep.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Stop::SuperstepTimeout);
        }
        Poll::Pending
    }
}

/// Awaits a node's future and turns a panic into a failure.
pub(crate) async fn caught<T>(
    future: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, Failure> {
    let mut future = pin!(future);
    poll_fn(|cx| poll_once(future.as_mut(), cx)).await
}

/// Polls a node's future and turns a panic into a failure.
#[inline]
pub(crate) fn poll_once<T>(
    future: Pin<&mut impl Future<Output = Result<T, BoxError>>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, Failure>> {
    poll_caught(future, cx).map(|ended| match ended {
        Ok(result) => result.map_err(Failure::error),
        Err(payload) => Err(Failure::panic(payload)),
    })
}

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Polls a node's future and catches a panic.
#[inline]
pub(crate) fn poll_caught<T>(
    future: Pin<&mut impl Future<Output = T>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, Payload>> {
    // A panic ends the future, and with it all that it may have left inconsistent; what it wrote is discarded.
    match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(payload) => Poll::Ready(Err(payload)),
    }
}

/// Awaits a future until something stops the run.
pub(crate) async fn watched<T>(
    watch: &mut Option<Box<Watch>>,
    future: impl Future<Output = T>,
) -> Result<T, Stop> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => poll_watch(watch, cx).map(Err),
    })
    .await
}

/// Whether something stops the run.
#[inline]
pub(crate) fn poll_watch(watch: &mut Option<Box<Watch>>, cx: &mut Context<'_>) -> Poll<Stop> {
    watch.as_mut().map_or(Poll::Pending, |watch| watch.poll(cx))
}

/// Lets other tasks run, and hears what stops the run.
pub(crate) async fn yield_now(watch: &mut Option<Box<Watch>>) -> Result<(), Stop> {
    // Asked first: a run whose nodes never wait hears of its deadline only here.
    if let Some(watch) = watch {
        let stop = poll_fn(|cx| Poll::Ready(watch.poll(cx))).await;
        if let Poll::Ready(stop) = stop {
            return Err(stop);
        }
    }
    tokio::task::yield_now().await;
    Ok(())
}
