//! Calls that need a credential first.

use serde_json::{Value, json};

use super::{AgentEvent, people};
use petalflow::tool::{CredentialRequest, ToolCall};
use petalflow_llm::ChatMessage;

/// The call by which an agent asks for a credential that a tool needs. It is not a tool: the answer to it is the user's next
/// input, a result of this name; see [`Pending`](super::Pending).
///
/// ```
/// assert_eq!(petalflow_agent::CREDENTIAL, "adk_request_credential", "as front ends of ADK know it");
/// ```
pub const CREDENTIAL: &str = "adk_request_credential";

/// What a call answers whose credential nobody gave.
pub(super) const DECLINED: &str = "Tool credential not given";

/// The event that asks for the credentials in `results`: one call for each, in the order of the calls that the model made;
/// none where no call of the model's is among them.
pub(super) fn request(
    said: &AgentEvent,
    results: &AgentEvent,
    filled: AgentEvent,
) -> Option<AgentEvent> {
    let requested = &results.actions.requested_credentials;
    let calls = said.message.iter().flat_map(ChatMessage::calls);
    let asked = calls.filter_map(|call| {
        let arguments =
            json!({ "functionCallId": call.id, "authConfig": requested.get(&call.id)? });
        Some((call, arguments))
    });
    people::request(CREDENTIAL, asked, filled)
}

/// The id of the call that needs a credential, and which.
pub(super) fn asked(call: &ToolCall) -> Option<(String, CredentialRequest)> {
    let id = call.arguments.get("functionCallId")?.as_str()?.to_string();
    let request = call.arguments.get("authConfig").cloned();
    let request = serde_json::from_value(request.unwrap_or_default());
    Some((id, request.unwrap_or_default()))
}

/// What was given. It is the credential that was asked for, whatever it says about that.
pub(super) fn given(request: &CredentialRequest, mut answer: Value) -> Value {
    if let Some(key) = answer.get_mut("credentialKey") {
        *key = request.key.clone().into();
    }
    answer
}

/// What is left of a credential in the conversation: whether there was one.
pub(super) fn scrubbed(answer: &Value) -> Value {
    json!({ "given": !answer.is_null() })
}
