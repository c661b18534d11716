//! The position in a conversation that callbacks, processors and tools of an agent can read.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::definition::Definition;
use super::history::Reader;
use super::placeholders::lookup;
use super::planner::Plans;
use super::roster::Roster;
use super::{AgentEvent, Conversation, delegation};
use petalflow::Context;

/// A position in a conversation.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) roster: &'a Arc<Roster>,
    /// The index of the current agent.
    pub(super) place: usize,
    pub(super) conversation: &'a Conversation,
    pub(super) cx: &'a Context,
}

impl<'a> At<'a> {
    pub(super) fn agent(&self) -> &'a Arc<Definition> {
        &self.roster.at(self.place).agent
    }

    pub(super) fn root(&self) -> &'a Arc<Definition> {
        &self.roster.at(Roster::ROOT).agent
    }

    pub(super) fn reader(&self) -> Reader {
        let speaker = self.conversation.speakers.last();
        let task = speaker.and_then(|speaker| speaker.task.as_ref());
        Reader {
            agent: self.agent().name.to_string(),
            branch: self.conversation.branch.clone(),
            plans: Plans(self.agent().planner.clone()),
            runs_code: self.agent().code_executor.is_some(),
            task: task.map(|task| (task.id.clone(), delegation::request(task))),
        }
    }

    /// A value of the conversation's state. A value written since the superstep began comes first.
    pub(super) fn state(&self, delta: &Map<String, Value>, key: &str) -> Option<Value> {
        let written = delta.get(key).cloned();
        written.or_else(|| lookup(&self.conversation.state, &self.conversation.temp, key))
    }

    /// An event of the agent. Its id is made from the task's id.
    pub(super) fn event(&self, number: usize) -> AgentEvent {
        AgentEvent {
            author: self.agent().name.to_string(),
            ..self.nobody(number)
        }
    }

    /// An event without an author.
    pub(super) fn nobody(&self, number: usize) -> AgentEvent {
        AgentEvent {
            id: format!("{}-{number}", self.cx.task_id()),
            invocation: self.conversation.invocation.clone(),
            branch: self.conversation.branch.clone(),
            scope: self.conversation.scope().map(Into::into),
            ..AgentEvent::default()
        }
    }
}
