//! Cancellation and deadlines: what may stop a run while it waits.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::cancel_token::RunToken;

/// Why a run stops although no node failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Stop {
    Cancelled,
    RunTimeout,
    SuperstepTimeout,
}

/// The cancellation and the deadlines of a run. A run that nothing can stop has no watch.
#[derive(Default)]
pub(crate) struct Watch {
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    run: Option<Pin<Box<Sleep>>>,
    superstep: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl Watch {
    /// `None` if there is nothing to watch.
    pub(in crate::exec) fn new(
        cancel: Option<&RunToken>,
        run: Option<Duration>,
        superstep: Option<Duration>,
    ) -> Option<Box<Self>> {
        if cancel.is_none() && run.is_none() && superstep.is_none() {
            return None;
        }
        Some(Box::new(Watch {
            cancelled: cancel.map(|token| Box::pin(token.cancelled_owned())),
            run: run.map(|after| Box::pin(sleep(after))),
            superstep: superstep.map(|after| (after, Box::pin(sleep(after)))),
        }))
    }

    /// Starts the clock of a superstep.
    pub(in crate::exec) fn begin_superstep(&mut self) {
        if let Some((after, sleeping)) = &mut self.superstep {
            sleeping.set(sleep(*after));
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Stop> {
        if let Some(cancelled) = &mut self.cancelled
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

/// Awaits a future, unless something stops the run first.
pub(in crate::exec) async fn watched<T>(
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

/// Completes when something stops the run.
pub(in crate::exec) fn poll_watch(
    watch: &mut Option<Box<Watch>>,
    cx: &mut Context<'_>,
) -> Poll<Stop> {
    watch.as_mut().map_or(Poll::Pending, |watch| watch.poll(cx))
}

/// Lets other tokio tasks run, unless something stops the run.
pub(in crate::exec) async fn yield_now(watch: &mut Option<Box<Watch>>) -> Result<(), Stop> {
    // Polled first: a run whose nodes never wait notices its deadline only here.
    if let Some(watch) = watch {
        let stop = poll_fn(|cx| Poll::Ready(watch.poll(cx))).await;
        if let Poll::Ready(stop) = stop {
            return Err(stop);
        }
    }
    tokio::task::yield_now().await;
    Ok(())
}
