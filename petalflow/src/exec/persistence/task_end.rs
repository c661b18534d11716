//! The end of a task, and its result.

use petalflow_graph::NodeIdx;

use crate::delivery::Delivery;
use crate::erased::{AnyEffects, EffectsBox};
use crate::ids::TaskId;
use crate::superstep::Outcome;

/// How a task ended.
pub(crate) enum TaskEnd {
    /// It has no result: it has not ended, its failure ends the run, or it waits for a person or a time. It runs again later.
    Unfinished,
    /// It ran.
    Done,
    /// It failed for good, and its `catch` edge leads to this node.
    Caught { to: NodeIdx, failure: Delivery },
    /// It failed for good and the failure was recorded, or a person skipped it.
    Ignored,
}

/// The result of a task that has finished, owned.
pub(crate) struct FinishedTask {
    pub(crate) effects: EffectsBox,
    pub(crate) end: TaskEnd,
}

/// The result of a task that has finished, borrowed from the driver.
pub(crate) struct TaskResult<'a> {
    pub(crate) id: TaskId,
    pub(crate) node: NodeIdx,
    pub(crate) effects: &'a dyn AnyEffects,
    pub(crate) end: &'a TaskEnd,
}

impl TaskEnd {
    /// The end of the task, as the planner needs it.
    pub(in crate::exec) fn outcome<'a>(&'a self, effects: &'a dyn AnyEffects) -> Outcome<'a> {
        match self {
            TaskEnd::Done => Outcome::done(effects),
            TaskEnd::Caught { to, failure } => Outcome::Caught { to: *to, failure },
            TaskEnd::Ignored | TaskEnd::Unfinished => Outcome::Plain,
        }
    }
}
