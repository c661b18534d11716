//! Retries, timeouts and cache times.

pub(crate) mod node_policy;
mod retry;
mod retrying;

pub(crate) use node_policy::NodePolicy;
pub use node_policy::Policy;
pub use retry::Retry;
pub(crate) use retry::pause;
pub use retrying::Retrying;
