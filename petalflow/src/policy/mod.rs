//! Retries, timeouts and cache times.

pub(crate) mod node_policy;
mod retry;

pub(crate) use node_policy::NodePolicy;
pub use node_policy::Policy;
pub use retry::Retry;
pub(crate) use retry::pause;
#[cfg(feature = "tool")]
pub(crate) use retry::repeat;
