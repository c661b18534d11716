//! The failure of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The failure of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NodeFailure {
    /// The name of the node.
    node: String,
    /// The sub-flow with this node; empty at the top.
    namespace: String,
    /// The superstep in which it failed.
    superstep: u64,
    /// The attempt that failed, from 1.
    attempt: u32,
    /// The index of the item, if the node is the target of `each`.
    index: Option<u64>,
    /// How it failed.
    kind: FailureKind,
    /// The text of the error.
    message: String,
}

/// How a node has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FailureKind {
    /// It returned an error.
    Error,
    /// It panicked.
    Panic,
    /// It took too long.
    Timeout,
    /// It made no progress for too long.
    Idle,
}
