//! What a sub-flow waits for, told in the flow around it.

use super::WaitingQuestion;
use crate::question::{Interrupt, InterruptId};
use crate::task_services::ParentTask;

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
