//! What names a task within a thread: the flow's namespace, and the task's id.

mod namespace;
mod task_id;

pub use namespace::Namespace;
pub use task_id::TaskId;
pub(crate) use task_id::task_id;
