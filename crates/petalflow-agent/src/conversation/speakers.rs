//! The agents that take part in a conversation.

use serde::{Deserialize, Serialize};

use crate::AgentEvent;
use crate::limits::Usage;
use petalflow::tool::ToolCall;

/// An agent in the conversation, and the call it works on if it was given a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speaker {
    pub(crate) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<ToolCall>,
}

/// A called agent that waits for a person before it answers, with its own conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// The call of the agent.
    pub(crate) call: ToolCall,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) speakers: Vec<Speaker>,
    /// The waiting agents that it has called itself.
    #[serde(rename = "within", default, skip_serializing_if = "Option::is_none")]
    pub(crate) nested: Option<Vec<Waiting>>,
    /// What the call has used so far.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub(crate) spent: Usage,
}

impl Waiting {
    /// Whether its conversation contains a call.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.events.iter().any(|event| event.has_call(id))
    }

    /// Whether an agent in it works on a task and has asked the user a question as text.
    pub(crate) fn has_task(&self) -> bool {
        let mut nested = self.nested.iter().flatten();
        self.speakers.last().is_some_and(|last| last.task.is_some())
            || nested.any(Waiting::has_task)
    }
}
