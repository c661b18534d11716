//! The position of a call in a conversation, and the methods of the public types that have one.

use std::fmt::{Display, Write as _};

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
            id: event_id(self.cx.task_id(), number),
            invocation: self.conversation.turn_id.clone(),
            author: self.agent.into(),
            branch: self.conversation.branch.clone(),
            scope: self.conversation.scope().map(Into::into),
            ..AgentEvent::default()
        }
    }
}

/// The id of an event of this task.
pub(crate) fn event_id(task: impl Display, number: usize) -> String {
    // The length of the text of a task's id.
    const TASK: usize = 32;
    let mut id = String::with_capacity(TASK + 4);
    // Writing to a text cannot fail.
    let _ = write!(id, "{task}-{number}");
    id
}

/// The methods of a type with the field `position`, a [`Position`].
macro_rules! position_methods {
    () => {
        /// The name of the agent.
        pub fn agent(&self) -> &'a str {
            self.position.agent
        }

        /// The context of the run.
        pub fn cx(&self) -> &'a petalflow::Context {
            self.position.cx
        }
    };
}

/// The methods of a call with the field `position`, a [`Position`], and a map with its changes of the state.
macro_rules! call_methods {
    ($($changes:ident).+) => {
        $crate::extension::position_methods!();

        /// The conversation as it was when the superstep began.
        pub fn conversation(&self) -> &'a $crate::Conversation {
            self.position.conversation
        }

        /// The artifacts of the thread, if the run manages an [`ArtifactFolder`](crate::artifacts::ArtifactFolder).
        pub fn artifacts(&self) -> Option<std::sync::Arc<crate::artifacts::ArtifactFolder>> {
            self.position.cx.managed()
        }

        /// A value of the conversation's state, with the changes of this call.
        pub fn state(&self, key: &str) -> Option<serde_json::Value> {
            self.position.state(&self.$($changes).+, key)
        }

        /// Sets a value of the conversation's state.
        pub fn set_state(&mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) {
            self.$($changes).+.insert(key.into(), value.into());
        }
    };
}

pub(crate) use {call_methods, position_methods};
