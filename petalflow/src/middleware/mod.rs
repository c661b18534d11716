//! Code around every node, or around the whole run.

mod circuit_breaker;
#[cfg(feature = "engine")]
mod leave_others;
mod node;
mod rate_limit;
mod ready;
mod run;
mod task_context;

pub use crate::future::BoxFuture;
pub use circuit_breaker::CircuitBreaker;
#[cfg(feature = "engine")]
pub(crate) use leave_others::LeaveOthers;
pub(crate) use node::{AnyCall, AnyMiddleware, AnyNext, Innermost, Layer};
pub use node::{Middleware, Next, NodeCall};
pub use rate_limit::RateLimit;
pub use ready::{for_nodes, from_fn, recover};
pub(crate) use run::{About, AnyRunMiddleware, AnyRunNext, RunLayer};
pub use run::{RunMiddleware, RunNext};
pub use task_context::{CapturedContext, TaskContext, carry_task_context};
pub(crate) use task_context::{call_in_current_context, in_current_context};
