//! The task that uses a service of its run.

use petalflow_graph::NodeIdx;

use crate::ids::TaskId;

/// The task that uses a service.
pub(crate) struct TaskRef<'a> {
    pub(crate) id: TaskId,
    pub(crate) at: NodeIdx,
    pub(crate) node: &'a str,
    pub(crate) index: Option<usize>,
    pub(crate) attempt: u32,
    pub(crate) superstep: u64,
}
