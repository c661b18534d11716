//! What a task waits for.

use petalflow_graph::NodeIdx;

use crate::ids::TaskId;
use crate::question::Interrupt;
use crate::task_services::wake::Wake;

/// A question or an approval without an answer, and the task that waits for it.
#[derive(Clone)]
pub(crate) struct WaitingQuestion {
    pub(crate) node: NodeIdx,
    /// The index of the task among those of the node.
    pub(crate) index: Option<usize>,
    pub(crate) task: TaskId,
    pub(crate) interrupt: Interrupt,
}

/// What one task waits for.
#[derive(Default)]
pub(in crate::task_services) struct TaskQuestions {
    /// In the order in which it asked.
    pub(super) open: Vec<WaitingQuestion>,
    /// When the task runs again although nobody has answered, if it sleeps.
    pub(in crate::task_services) wake: Option<Wake>,
    /// Whether the task waits for them, and is dropped. If not, a sub-flow of it has asked, and goes on with other tasks.
    pub(in crate::task_services) is_waiting: bool,
}

impl TaskQuestions {
    /// A future that is dropped and made again asks the same question again.
    pub(super) fn add(&mut self, question: WaitingQuestion) -> bool {
        let mut open = self.open.iter();
        let is_new = !open.any(|known| known.interrupt.id == question.interrupt.id);
        if is_new {
            self.open.push(question);
        }
        is_new
    }
}
