//! The values that steps of a turn pass to each other.

use petalflow::tool::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What follows a step.
#[derive(Debug)]
pub(crate) enum Step {
    Act(Act),
    Enter(String),
    Ask,
    Done,
}

/// An action to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) node: String,
    pub(crate) moment: Moment,
    pub(crate) index: usize,
}

/// When an action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Moment {
    /// Before the node is entered.
    Before,
    /// After the model's turn.
    After,
}

/// A function that the model calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PendingCall {
    /// The index of the call in the model's answer.
    pub(crate) index: usize,
    pub(crate) call: ToolCall,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) index: usize,
    pub(crate) call: ToolCall,
    /// What the model reads.
    pub(crate) result: Value,
    pub(crate) is_error: bool,
    /// The values that the function sets.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) values: Map<String, Value>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Whether the model need not answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_silent: bool,
}
