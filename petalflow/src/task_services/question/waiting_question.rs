//! What a task waits for, and the answers that a thread has recorded.

use std::collections::HashMap;

use petalflow_graph::NodeIdx;

use crate::ids::TaskId;
use crate::question::{Interrupt, InterruptId};

/// A question or an approval without an answer, and the task that waits for it.
pub(crate) struct WaitingQuestion {
    pub(crate) node: NodeIdx,
    /// The index of the task among those of the node.
    pub(crate) index: Option<usize>,
    pub(crate) task: TaskId,
    pub(crate) interrupt: Interrupt,
}

/// The recorded answers of a thread, by question: the name of the question's type, and the encoded answer. An empty answer
/// means that the question expired.
pub(crate) type Answers = HashMap<InterruptId, (String, Vec<u8>)>;
