//! Error records.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::NodeKind;
use crate::clock::now_ms;
use petalflow::NodeError;

/// An error record: a failure of a node, as an envelope stores it.
///
/// ```
/// use petalflow_documents::NodeFailure;
/// use std::error::Error;
///
/// let failure = NodeFailure::new("fetch", "no page").with_cause("connection refused");
/// assert_eq!(failure.to_string(), "no page");
/// assert_eq!(failure.source().unwrap().to_string(), "connection refused");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct NodeFailure {
    /// The name of the node.
    pub node: String,
    /// The kind of failure, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<NodeKind>,
    /// The error message.
    pub message: String,
    /// The number of the last attempt, from 1.
    pub attempt: u32,
    /// The time of the failure, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// The message of the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[source]
    cause: Option<Cause>,
}

/// The message of an error that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
#[serde(transparent)]
struct Cause(String);

impl NodeFailure {
    /// Creates an error record for the first attempt of this node, with the current time.
    pub fn new(node: impl Into<String>, message: impl Into<String>) -> Self {
        NodeFailure {
            node: node.into(),
            kind: None,
            message: message.into(),
            attempt: 1,
            at_ms: now_ms(),
            details: Map::new(),
            cause: None,
        }
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(Cause(cause.to_string()));
        self
    }
}

impl From<NodeError> for NodeFailure {
    fn from(error: NodeError) -> Self {
        NodeFailure {
            attempt: error.attempt,
            ..NodeFailure::new(error.node.clone(), error.message.clone()).with_cause(error)
        }
    }
}
