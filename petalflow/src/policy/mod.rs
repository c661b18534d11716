//! Retries, timeouts and cache times.

mod node_policy;
mod retry;

pub use node_policy::{NodePolicy, Policy};
pub use retry::Retry;
pub(crate) use retry::pause;
#[cfg(feature = "tool")]
pub(crate) use retry::repeat;
