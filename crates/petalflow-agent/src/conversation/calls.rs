//! Calls that have to be made, and their outcomes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::speakers::Waiting;
use crate::AgentEvent;
use crate::limits::Usage;
use petalflow::tool::{Confirmation, ToolCall};
use petalflow_llm::ChatMessage;

/// A call that has to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PendingCall {
    /// The index of the call among the calls that are made together.
    #[serde(rename = "place")]
    pub(crate) index: usize,
    pub(crate) call: ToolCall,
    /// The decision of a person about the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confirmation: Option<Confirmation>,
    /// The credential that was given for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credential: Option<Value>,
    /// The answer of a person to the called agent, which waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<ChatMessage>,
}

impl PendingCall {
    /// A call without a decision.
    pub(crate) fn new(index: usize, call: ToolCall) -> Self {
        PendingCall {
            index,
            call,
            confirmation: None,
            credential: None,
            answer: None,
        }
    }
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The index of the call among the calls that are made together.
    #[serde(rename = "place")]
    pub(crate) index: usize,
    #[serde(rename = "call")]
    pub(crate) call_id: String,
    /// The events of the agent that was called, in its own branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inner: Vec<AgentEvent>,
    /// The event of the result; `None` if the result comes later.
    pub(crate) event: Option<AgentEvent>,
    /// The state changes of a call without an event.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) state: Map<String, Value>,
    /// The called agent, if it waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<Waiting>,
    /// What the called agent used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<Usage>,
    /// What replaces the answer that the call gives, after a guardrail has rewritten or blocked it, or a callback has changed
    /// the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
}

impl Outcome {
    /// The outcome of a call with a result.
    pub(crate) fn of(index: usize, call_id: &str, event: AgentEvent) -> Self {
        Outcome {
            index,
            call_id: call_id.into(),
            inner: Vec::new(),
            event: Some(event),
            state: Map::new(),
            waiting: None,
            spent: None,
            answer: None,
        }
    }
}
