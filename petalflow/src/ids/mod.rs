//! The ids of tasks and questions within a thread, and the namespaces of flows.

mod interrupt_id;
mod namespace;
mod task_id;

pub use interrupt_id::InterruptId;
pub use namespace::Namespace;
pub use task_id::TaskId;
pub(crate) use task_id::task_id;
