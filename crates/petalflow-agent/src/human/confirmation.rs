//! Calls that a person must confirm first.

use serde_json::{Map, Value, json};

use super::request;
use crate::AgentEvent;
use petalflow::tool::{Confirmation, ToolCall};

/// The name of the call by which an agent asks a person to confirm another call. It is not a tool: the user's next
/// input answers it with a result of this name. See [`Pending`](crate::Pending).
///
/// ```
/// assert_eq!(petalflow_agent::human::CONFIRMATION, "adk_request_confirmation", "as front ends of ADK know it");
/// ```
pub const CONFIRMATION: &str = "adk_request_confirmation";

/// The result of a call that was not confirmed.
pub(crate) const REFUSED: &str = "Tool execution not confirmed";

/// The result of a call that a person refused.
pub(crate) fn refused(confirmation: &Confirmation) -> String {
    match &confirmation.reason {
        Some(reason) => format!("{REFUSED}: {reason}"),
        None => REFUSED.into(),
    }
}

/// The result of a call that was made with arguments of a person.
pub(crate) fn with_changed(arguments: &Value, result: Value) -> Value {
    json!({
        "note": "the user has approved this call with other arguments",
        "arguments": arguments,
        "result": result,
    })
}

/// The result of a call until a person has decided about it. The text is the same as in ADK.
pub(crate) fn awaiting(tool: &str) -> String {
    format!("error tool {tool:?} requires confirmation, please approve or reject")
}

/// The event that requests the confirmations in `results`: one call for each, in the order of the model's `calls`.
/// `None` if no call needs a confirmation.
pub(crate) fn request_event(
    calls: &AgentEvent,
    results: &AgentEvent,
    template: AgentEvent,
) -> Option<AgentEvent> {
    let requested = &results.actions.requested_confirmations;
    let requests = calls.calls().filter_map(|call| {
        let arguments = json!({
            "originalFunctionCall": { "id": call.id, "name": call.name, "args": call.arguments },
            "toolConfirmation": requested.get(&call.id)?,
        });
        Some((call, arguments))
    });
    request::event(CONFIRMATION, requests, template)
}

/// The call that a confirmation is about, and the confirmation itself.
pub(crate) fn parse_request(call: &ToolCall) -> Option<(ToolCall, Confirmation)> {
    let original = call.arguments.get("originalFunctionCall")?;
    let text = |key: &str| Some(original.get(key)?.as_str()?.to_string());
    let arguments = original
        .get("args")
        .filter(|arguments| !arguments.is_null());
    let original = ToolCall {
        id: text("id")?,
        name: text("name")?,
        arguments: arguments.cloned().unwrap_or_else(|| Map::new().into()),
        ..ToolCall::default()
    };
    let confirmation = call.arguments.get("toolConfirmation").cloned();
    let confirmation = serde_json::from_value(confirmation.unwrap_or_default());
    Some((original, confirmation.unwrap_or_default()))
}

/// The decision in the answer of a person.
pub(crate) fn parse_answer(answer: &Value) -> Confirmation {
    serde_json::from_value(answer.clone()).unwrap_or_default()
}
