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

/// A run of a sub-flow at its newest checkpoint, as it is stored: [`StoredThreads::subflow_runs`](crate::thread::StoredThreads::subflow_runs)
/// reads it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredSubflowRun {
    /// The names of the nodes that lead to the sub-flow, such as `review/dig[3]`.
    pub namespace: String,
    /// When its run began, in milliseconds since 1970 (UTC).
    pub begun_ms: u64,
    /// The values of the keys, as in a [`StoredSnapshot`].
    pub keys: Map<String, Value>,
}
