//! A thread at a checkpoint, without the types of its program.

use serde_json::{Map, Value};

use super::{CheckpointInfo, TaskState};
use crate::question::Interrupt;

/// A thread at a checkpoint, as it is stored: [`StoredThreads::snapshot`](crate::thread::StoredThreads::snapshot) reads it without
/// the types of the program that wrote it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredSnapshot {
    /// The checkpoint. Its nodes have their names in storage.
    pub info: CheckpointInfo,
    /// The name of the flow in storage.
    pub flow: String,
    /// The values of the keys, by their names in storage. Writes to a key with a reducer of the program's own are not folded:
    /// such a key is `{"value": .., "writes": [..]}`.
    pub keys: Map<String, Value>,
    /// The tasks of the superstep that comes next.
    pub tasks: Vec<TaskState>,
    /// The open questions and interrupts.
    pub interrupts: Vec<Interrupt>,
}
