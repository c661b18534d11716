//! Caught panics as errors.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The message of a caught panic.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let panicked = petalflow::error::catch_panic(async { panic!("no such draft") }).await.unwrap_err();
/// assert_eq!(panicked.to_string(), "panicked: no such draft");
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panicked {
    message: String,
}

impl Panicked {
    /// Reads the message from the payload of a panic.
    pub(crate) fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Panicked {
            message: text.unwrap_or("(no message)").into(),
        }
    }

    /// The message of the panic alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

super::debug_is_message!(Panicked);

/// Calls a function and catches a panic in it.
pub(crate) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| Panicked::new(&*payload))
}

/// Awaits a future and catches a panic in it, as the runtime does for nodes. For code that calls functions of users.
///
/// # Errors
///
/// If the future panicked.
///
/// # Cancel safety
///
/// Dropping it drops the future.
pub async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(payload) => Poll::Ready(Err(Panicked::new(&*payload))),
        },
    )
    .await
}
