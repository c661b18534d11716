//! The event in which an agent requests something from a person.

use serde_json::Value;

use crate::AgentEvent;
use petalflow::tool::ToolCall;
use petalflow_llm::{ChatMessage, Part, Role};

/// The event in which an agent requests something from a person: one call with this `name` and these arguments for each
/// of these calls. `None` if there are no calls.
pub(super) fn event<'c>(
    name: &str,
    requests: impl Iterator<Item = (&'c ToolCall, Value)>,
    template: AgentEvent,
) -> Option<AgentEvent> {
    let parts: Vec<Part> = requests
        .enumerate()
        .map(|(index, (call, arguments))| {
            Part::Call(ToolCall {
                id: format!("{}-{index}", template.id),
                name: name.into(),
                arguments,
                signature: call.signature.clone(),
                ..ToolCall::default()
            })
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let message = ChatMessage::new(Role::Assistant, parts);
    let long_running = message.calls().map(|call| call.id.clone()).collect();
    Some(AgentEvent {
        message: Some(message),
        long_running,
        ..template
    })
}
