//! The task of a flow that runs a sub-flow.

use std::sync::Arc;

use petalflow_graph::NodeIdx;

use super::WaitingQuestion;
use crate::ids::TaskId;
use crate::question::{Interrupt, InterruptId};
use crate::task_services::TaskServices;

/// The task of a flow that runs a sub-flow.
#[derive(Clone)]
pub(crate) struct ParentTask {
    pub(crate) services: Arc<TaskServices>,
    pub(crate) id: TaskId,
    pub(crate) node: NodeIdx,
    /// The index of the task among those of the node.
    pub(crate) index: Option<usize>,
}

impl ParentTask {
    /// Tells in the flow what its sub-flow waits for, while the sub-flow goes on with other tasks.
    pub(crate) fn announce(&self, interrupts: &[Interrupt]) {
        let questions = interrupts.iter().map(|interrupt| WaitingQuestion {
            node: self.node,
            index: self.index,
            task: self.id,
            interrupt: interrupt.clone(),
        });
        self.services.add_questions(self.id, questions, false);
    }

    /// The sub-flow does not wait for these any more.
    pub(super) fn withdraw(&self, interrupts: &[InterruptId]) {
        self.services.withdraw_announced(self.id, interrupts);
    }
}
