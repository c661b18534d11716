//! The cut of a conversation: the part that a model reads, and what replaces the start.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::AgentEvent;
use petalflow_llm::{ChatMessage, Part, Role};

/// The start of the messages of one agent. The events before it stay in the conversation; the agent's model reads the
/// replacement instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The agent, and the call that it works on if it was given a task.
    pub(crate) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// The index of the first event that the model reads.
    pub(crate) from: usize,
    /// The number of events when the cut was made, and the id of the last one.
    pub(crate) at: usize,
    pub(crate) last: String,
    /// The number of events that the model had read when the cut was made.
    pub(crate) read: usize,
    /// The index of the last request before `from`. The model reads it if its messages do not begin with another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<usize>,
    /// What stands for the messages before `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replacement: Vec<ChatMessage>,
}

/// The index of the event that a message was made of; `None` for the request of a task, and for what stands for messages
/// that were cut.
pub(crate) type MessageOrigin = Option<usize>;

impl Cut {
    /// Whether the cut was made in these events.
    pub(super) fn fits(&self, events: &[AgentEvent]) -> bool {
        let last = self.at.checked_sub(1).and_then(|last| events.get(last));
        self.from <= self.at && last.is_some_and(|last| last.id == self.last)
    }

    /// The cut in a conversation without its first events. `None` if it was made before these events ended.
    pub(crate) fn without(&self, events: usize) -> Option<Cut> {
        Some(Cut {
            from: self.from.checked_sub(events)?,
            at: self.at.checked_sub(events).filter(|at| *at > 0)?,
            read: self.read.saturating_sub(events),
            request: self.request.and_then(|request| request.checked_sub(events)),
            ..self.clone()
        })
    }

    /// What differs between two cuts of one conversation.
    pub(super) fn identity(&self) -> (usize, usize) {
        (self.from, self.at)
    }

    /// The events before the cut that the model reads nevertheless: the last request, unless its messages begin with one,
    /// and calls whose results the model had not read when the cut was made, with the other results of those calls.
    pub(super) fn kept_before(
        &self,
        events: &[AgentEvent],
        seen: &[(MessageOrigin, ChatMessage)],
    ) -> Vec<usize> {
        let before = &events[..self.from];
        let mut kept = BTreeSet::new();
        for id in self.late_results(seen) {
            let Some(index) = before.iter().rposition(|event| event.has_call(id)) else {
                continue;
            };
            kept.insert(index);
            let calls: HashSet<&str> = before[index].calls().map(|call| &*call.id).collect();
            let results = before.iter().enumerate().skip(index);
            let results = results.filter(|(_, event)| {
                let mut results = event.results();
                results.any(|result| calls.contains(&*result.call_id))
            });
            kept.extend(results.map(|(index, _)| index));
        }
        let begins_with_request = seen
            .first()
            .is_some_and(|(_, first)| first.role == Role::User);
        // It comes first: a conversation begins with a message to the model.
        let request = self
            .request
            .filter(|request| *request < self.from && (!begins_with_request || !kept.is_empty()));
        if let Some(request) = &request {
            kept.remove(request);
        }
        request.into_iter().chain(kept).collect()
    }

    /// The ids of calls before the cut whose results the model had not read.
    fn late_results<'m>(&self, seen: &'m [(MessageOrigin, ChatMessage)]) -> HashSet<&'m str> {
        let mut called: HashSet<&str> = HashSet::new();
        let mut late = HashSet::new();
        for (origin, message) in seen {
            called.extend(message.calls().map(|call| &*call.id));
            if origin.is_some_and(|index| index >= self.read) {
                let results = message.tool_results().map(|result| &*result.call_id);
                late.extend(results.filter(|id| !called.contains(id)));
            }
        }
        late
    }

    /// Removes results whose calls were cut.
    pub(super) fn remove_results(&self, messages: &mut Vec<(MessageOrigin, ChatMessage)>) {
        let mut called: HashSet<String> = HashSet::new();
        messages.retain_mut(|(origin, message)| {
            called.extend(message.calls().map(|call| call.id.clone()));
            if origin.is_some_and(|index| index < self.read) {
                message.parts.retain(|part| match part {
                    Part::Result(result) => called.contains(&result.call_id),
                    _ => true,
                });
            }
            !message.parts.is_empty()
        });
    }
}
