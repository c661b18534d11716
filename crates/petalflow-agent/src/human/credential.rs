//! Calls that need a credential first.

use serde_json::{Value, json};

use super::request;
use crate::AgentEvent;
use petalflow::tool::{CredentialRequest, ToolCall};

/// The name of the call by which an agent asks for a credential that a tool needs. It is not a tool: the user's next
/// input answers it with a result of this name. See [`Pending`](crate::Pending).
///
/// ```
/// assert_eq!(petalflow_agent::human::CREDENTIAL, "adk_request_credential", "as front ends of ADK know it");
/// ```
pub const CREDENTIAL: &str = "adk_request_credential";

/// The result of a call whose credential was not given.
pub(crate) const DECLINED: &str = "Tool credential not given";

/// The event that requests the credentials in `results`: one call for each, in the order of the model's `calls`. `None`
/// if no call needs a credential.
pub(crate) fn request_event(
    calls: &AgentEvent,
    results: &AgentEvent,
    template: AgentEvent,
) -> Option<AgentEvent> {
    let requested = &results.actions.requested_credentials;
    let requests = calls.calls().filter_map(|call| {
        let arguments =
            json!({ "functionCallId": call.id, "authConfig": requested.get(&call.id)? });
        Some((call, arguments))
    });
    request::event(CREDENTIAL, requests, template)
}

/// The id of the call that needs a credential, and the credential's request.
pub(crate) fn parse_request(call: &ToolCall) -> Option<(String, CredentialRequest)> {
    let id = call.arguments.get("functionCallId")?.as_str()?.to_string();
    let request = call.arguments.get("authConfig").cloned();
    let request = serde_json::from_value(request.unwrap_or_default());
    Some((id, request.unwrap_or_default()))
}

/// The credential in the answer. Its key is always the requested one.
pub(crate) fn parse_answer(request: &CredentialRequest, mut answer: Value) -> Value {
    if let Some(key) = answer.get_mut("credentialKey") {
        *key = request.key.clone().into();
    }
    answer
}

/// The part of an answer that the conversation stores: only whether there is a credential.
pub(crate) fn redacted(answer: &Value) -> Value {
    json!({ "given": !answer.is_null() })
}
