//! Boxed futures, and panics caught while a future is polled.

mod panic;

use std::future::Future;
use std::pin::Pin;

pub(crate) use panic::{caught, poll_caught, poll_once};

/// A boxed future that can move between threads.
///
/// ```
/// use petalflow::middleware::BoxFuture;
///
/// fn later(n: u32) -> BoxFuture<'static, u32> {
///     Box::pin(async move { n + 1 })
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(later(1).await, 2);
/// # }
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
