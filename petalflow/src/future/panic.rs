//! Panics of a future, caught at the poll in which they happen.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{BoxError, Failure, Payload};

/// Awaits a node's future and turns a panic into a failure. The future is pinned by the caller: an `async fn` has room for an
/// argument twice.
pub(crate) async fn caught<T>(
    mut future: Pin<&mut impl Future<Output = Result<T, BoxError>>>,
) -> Result<T, Failure> {
    poll_fn(|cx| poll_once(future.as_mut(), cx)).await
}

/// Polls a node's future and turns a panic into a failure.
pub(crate) fn poll_once<T>(
    future: Pin<&mut impl Future<Output = Result<T, BoxError>>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, Failure>> {
    poll_caught(future, cx).map(|ended| match ended {
        Ok(result) => result.map_err(Failure::error),
        Err(payload) => Err(Failure::panic(payload)),
    })
}

/// Polls a node's future and catches a panic.
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
