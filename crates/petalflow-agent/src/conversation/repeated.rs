//! Answers of a person that were given before: a double click, or a request of a front end that was sent again.

use petalflow::tool::ToolResult;
use petalflow_llm::{ChatMessage, Part};

use super::speakers::Waiting;
use super::state::Conversation;
use crate::AgentEvent;
use crate::human;

/// Splits the user's message: what is new, and the answers that were given before.
///
/// A decision is repeated if there is one about the same request, even another one: the first one counts. The result of a
/// call is repeated if it is equal to the last one, because a call may have several.
pub(crate) fn split(
    conversation: &Conversation,
    mut message: ChatMessage,
) -> (ChatMessage, Vec<ToolResult>) {
    let mut repeated = Vec::new();
    message.parts.retain_mut(|part| {
        let Part::Result(result) = part else {
            return true;
        };
        let waiting = conversation.waiting.as_deref().unwrap_or_default();
        let is_new = !was_given(&conversation.events, waiting, result);
        if !is_new {
            repeated.push(std::mem::take(result));
        }
        is_new
    });
    (message, repeated)
}

/// Whether the answer was given in the conversation with these events. An agent that still waits knows it itself.
fn was_given(events: &[AgentEvent], waiting: &[Waiting], answer: &ToolResult) -> bool {
    if let Some(waiting) = waiting
        .iter()
        .find(|waiting| waiting.has_call(&answer.call_id))
    {
        let nested = waiting.nested.as_deref().unwrap_or_default();
        return was_given(&waiting.events, nested, answer);
    }
    let Some(asked) = events
        .iter()
        .rposition(|event| event.has_call(&answer.call_id))
    else {
        return false;
    };
    let given = events[asked..].iter().filter(|event| event.is_from_user());
    let given = given.flat_map(AgentEvent::results);
    let last = given.filter(|given| given.call_id == answer.call_id).last();
    last.is_some_and(|last| human::is_request(&answer.name) || last.content == answer.content)
}

impl Conversation {
    /// Whether its last turn has ended, or waits for something.
    pub(crate) fn is_over(&self) -> bool {
        let Some(last) = self.events.last() else {
            return true;
        };
        let mut results = last.results().peekable();
        // The calls that were decided about have been made, and their results come later.
        let is_decision =
            results.peek().is_some() && results.all(|result| human::is_request(&result.name));
        if last.is_from_user() {
            return is_decision;
        }
        last.is_final()
            || !self.pending().is_empty()
            || self.waiting.iter().flatten().next().is_some()
    }
}
