//! A record of a task that is stored with the checkpoints of the sub-flow that it runs.

use crate::checkpoint::StoreChange;
use crate::ids::TaskId;

/// A write of a task in case it does not finish, which is stored with the next checkpoint of a flow that runs in the task.
pub(super) struct CallerRecord {
    /// The task, and the id of the key.
    pub(super) of: (TaskId, String),
    /// The write, with the newest value that the task has recorded: the sub-flows of one task may record at the same time.
    pub(super) change: Box<dyn Fn() -> Option<StoreChange> + Send>,
}
