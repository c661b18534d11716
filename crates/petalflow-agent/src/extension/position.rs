//! The position of a call in a conversation.

use serde_json::{Map, Value};

use crate::{AgentEvent, Conversation};
use petalflow::Context;

/// The agent that makes a call, and its conversation as it was when the superstep began.
#[derive(Clone, Copy)]
pub(crate) struct Position<'a> {
    /// The agent's name.
    pub(crate) agent: &'a str,
    pub(crate) conversation: &'a Conversation,
    pub(crate) cx: &'a Context,
}

impl Position<'_> {
    /// A value of the conversation's state. A value written since the superstep began comes first. Keys that begin with
    /// `temp:` are in a map of their own.
    pub(crate) fn state(&self, delta: &Map<String, Value>, key: &str) -> Option<Value> {
        let state = if key.starts_with("temp:") {
            &self.conversation.temp
        } else {
            &self.conversation.state
        };
        delta.get(key).or_else(|| state.get(key)).cloned()
    }

    /// An event of the agent. Its id is made from the task's id and `number`.
    pub(crate) fn event(&self, number: usize) -> AgentEvent {
        AgentEvent {
            id: format!("{}-{number}", self.cx.task_id()),
            invocation: self.conversation.turn_id.clone(),
            author: self.agent.into(),
            branch: self.conversation.branch.clone(),
            scope: self.conversation.scope().map(Into::into),
            ..AgentEvent::default()
        }
    }
}
