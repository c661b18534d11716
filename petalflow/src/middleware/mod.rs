//! Code around every node, or around the whole run.

mod node;
mod ready;
mod run;
mod task_context;

use std::future::Future;
use std::pin::Pin;

pub(crate) use node::Innermost;
pub use node::{Middleware, Next, NodeCall};
pub use ready::{from_fn, only, recover};
pub(crate) use run::About;
pub use run::{RunMiddleware, RunNext};
pub use task_context::{CapturedContext, TaskContext, carry_task_context};
pub(crate) use task_context::{carried, carried_call};

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
