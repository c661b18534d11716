//! Code around every node, or around the whole run.

mod node;
mod ready;
mod run;

pub use crate::future::BoxFuture;
pub(crate) use node::Innermost;
pub use node::{Middleware, Next, NodeCall};
pub use ready::{from_fn, only, recover};
pub(crate) use run::About;
pub use run::{RunMiddleware, RunNext};
