//! The ids of tasks within a thread, and the namespaces of flows.

mod namespace;
mod task_id;

pub use namespace::Namespace;
pub use task_id::{TaskId, task_id};
