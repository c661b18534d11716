//! Calls that a person must confirm first.

use serde_json::{Map, Value, json};

use super::conversation::PendingCall;
use super::{AgentError, AgentEvent};
use crate::llm::{ChatMessage, Part, Role, ToolCall, ToolResult};
use crate::tool::Confirmation;

/// The call by which an agent asks a person to confirm another. It is not a tool: the answer to it is the user's next input, a
/// result of this name; see [`Pending`](super::Pending).
///
/// ```
/// assert_eq!(petalflow::agent::CONFIRMATION, "adk_request_confirmation", "as front ends of ADK know it");
/// ```
pub const CONFIRMATION: &str = "adk_request_confirmation";

/// What a call that was not confirmed answers.
pub(super) const REFUSED: &str = "Tool execution not confirmed";

/// What a call answers until somebody has decided about it.
pub(super) fn awaited(tool: &str) -> String {
    format!("tool `{tool}` requires confirmation, please approve or reject")
}

/// The event that asks for the confirmations in `results`: one call for each, in the order of the calls that the model made;
/// none where no call of the model's is among them.
pub(super) fn request(
    said: &AgentEvent,
    results: &AgentEvent,
    filled: AgentEvent,
) -> Option<AgentEvent> {
    let requested = &results.actions.requested_confirmations;
    let calls = said.message.iter().flat_map(ChatMessage::calls);
    let asked = calls.filter_map(|call| Some((call, requested.get(&call.id)?)));
    let mut parts = Vec::new();
    let mut long_running = Vec::new();
    for (number, (call, confirmation)) in asked.enumerate() {
        let id = format!("{}-{number}", filled.id);
        long_running.push(id.clone());
        parts.push(Part::Call(ToolCall {
            id,
            name: CONFIRMATION.into(),
            arguments: json!({
                "originalFunctionCall": { "id": call.id, "name": call.name, "args": call.arguments },
                "toolConfirmation": confirmation,
            }),
            signature: call.signature.clone(),
        }));
    }
    (!parts.is_empty()).then(|| AgentEvent {
        message: Some(ChatMessage::new(Role::Assistant, parts)),
        long_running,
        ..filled
    })
}

/// The call that a confirmation asks about, and what it asks.
pub(super) fn asked(call: &ToolCall) -> Option<(ToolCall, Confirmation)> {
    let original = call.arguments.get("originalFunctionCall")?;
    let text = |key: &str| Some(original.get(key)?.as_str()?.to_string());
    let arguments = original
        .get("args")
        .filter(|arguments| !arguments.is_null());
    let original = ToolCall {
        id: text("id")?,
        name: text("name")?,
        arguments: arguments.cloned().unwrap_or_else(|| Map::new().into()),
        signature: None,
    };
    let confirmation = call.arguments.get("toolConfirmation").cloned();
    let confirmation = serde_json::from_value(confirmation.unwrap_or_default());
    Some((original, confirmation.unwrap_or_default()))
}

/// The calls that `answers` decide about, in the order in which the model made them. Each is made once, as the model made it:
/// what was answered before is left out, and a confirmation that `agent` has not asked for, or not about that call, is refused.
pub(super) fn decided(
    events: &[AgentEvent],
    agent: &str,
    answers: &ChatMessage,
) -> Result<Vec<PendingCall>, AgentError> {
    let mut decided: Vec<((usize, usize), ToolCall, Confirmation)> = Vec::new();
    for answer in answers.tool_results() {
        if answer.name != CONFIRMATION {
            continue;
        }
        let (asked_at, original) = requested(events, agent, &answer.call_id)?;
        let again = events[asked_at..]
            .iter()
            .any(|event| answers_to(event, &answer.call_id));
        if again || decided.iter().any(|(_, call, _)| call.id == original.id) {
            continue;
        }
        let (place, call) = made(&events[..asked_at], agent, &original)?;
        decided.push((place, call, decision(answer)));
    }
    decided.sort_by_key(|(place, ..)| *place);
    let calls = decided.into_iter().enumerate();
    let calls = calls.map(|(place, (_, call, confirmation))| PendingCall {
        place,
        call,
        confirmation: Some(confirmation),
    });
    Ok(calls.collect())
}

/// The agent's request of this id: where it stands, and the call it is about.
fn requested(
    events: &[AgentEvent],
    agent: &str,
    id: &str,
) -> Result<(usize, ToolCall), AgentError> {
    let requests = events.iter().enumerate().rev();
    let mut requests = requests.flat_map(|(place, event)| {
        let calls = event.message.iter().flat_map(ChatMessage::calls);
        calls.map(move |call| (place, event, call))
    });
    let request = requests.find(|(_, event, call)| {
        event.author == agent && call.name == CONFIRMATION && call.id == id
            // What a model says is no request: only the agent itself makes one that is awaited.
            && event.long_running.contains(&call.id)
    });
    let refused = || {
        AgentError::Confirmation(format!(
            "agent `{agent}` has not asked for the confirmation `{id}`: answer to the id of a pending one"
        ))
    };
    let (place, _, call) = request.ok_or_else(refused)?;
    let (original, _) = asked(call).ok_or_else(refused)?;
    Ok((place, original))
}

/// The call as the agent's model made it, and where.
fn made(
    events: &[AgentEvent],
    agent: &str,
    original: &ToolCall,
) -> Result<((usize, usize), ToolCall), AgentError> {
    let by_agent = events.iter().enumerate().rev();
    let by_agent = by_agent.filter(|(_, event)| event.author == agent);
    let mut calls = by_agent.flat_map(|(at, event)| {
        let calls = event
            .message
            .iter()
            .flat_map(ChatMessage::calls)
            .enumerate();
        calls.map(move |(place, call)| ((at, place), call))
    });
    let call = calls.find(|(_, call)| call.id == original.id);
    match call {
        Some((place, call))
            if call.name == original.name && call.arguments == original.arguments =>
        {
            Ok((place, call.clone()))
        }
        _ => Err(AgentError::Confirmation(format!(
            "the confirmed call `{}` of `{}` is not one that the model of agent `{agent}` made",
            original.id, original.name
        ))),
    }
}

fn answers_to(event: &AgentEvent, id: &str) -> bool {
    let mut results = event.message.iter().flat_map(ChatMessage::tool_results);
    event.is_from_user() && results.any(|result| result.call_id == id)
}

/// What a person decided. Front ends may wrap it as text in `response`.
fn decision(answer: &ToolResult) -> Confirmation {
    let wrapped = answer.content.get("response").and_then(Value::as_str);
    let unwrapped = wrapped.and_then(|text| serde_json::from_str(text).ok());
    let content = unwrapped.unwrap_or_else(|| answer.content.clone());
    serde_json::from_value(content).unwrap_or_default()
}
