//! Calls that need a credential first.

use serde_json::{Value, json};

use super::{AgentEvent, people};
use petalflow::tool::{CredentialRequest, ToolCall};
use petalflow_llm::ChatMessage;

/// The name of the call by which an agent asks for a credential that a tool needs. It is not a tool: the user's next
/// input answers it with a result of this name. See [`Pending`](super::Pending).
///
/// ```
/// assert_eq!(petalflow_agent::CREDENTIAL, "adk_request_credential", "as front ends of ADK know it");
/// ```
pub const CREDENTIAL: &str = "adk_request_credential";

/// The result of a call whose credential was not given.
pub(super) const DECLINED: &str = "Tool credential not given";

/// The event that asks for the credentials in `results`: one call for each, in the order of the model's calls. `None`
/// if no call of the model needs a credential.
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

/// The id of the call that needs a credential, and the credential's request.
pub(super) fn asked(call: &ToolCall) -> Option<(String, CredentialRequest)> {
    let id = call.arguments.get("functionCallId")?.as_str()?.to_string();
    let request = call.arguments.get("authConfig").cloned();
    let request = serde_json::from_value(request.unwrap_or_default());
    Some((id, request.unwrap_or_default()))
}

/// The given credential. It always counts as the requested one, whatever the answer says about that.
pub(super) fn given(request: &CredentialRequest, mut answer: Value) -> Value {
    if let Some(key) = answer.get_mut("credentialKey") {
        *key = request.key.clone().into();
    }
    answer
}

/// What the conversation keeps of a credential: only whether there was one.
pub(super) fn scrubbed(answer: &Value) -> Value {
    json!({ "given": !answer.is_null() })
}
