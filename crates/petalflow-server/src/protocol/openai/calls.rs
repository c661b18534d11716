//! What a turn waits for, as calls of functions. The id of a call names the thread and the request, so that its result continues
//! the thread.

use petalflow::tool::ToolCall;
use petalflow_agent::Pending;
use petalflow_agent::human::{CONFIRMATION, CREDENTIAL};
use serde_json::{Map, Value, json};

use crate::call_decision::CallDecision;
use crate::digest::digest;
use crate::protocol::turn::{PersonAnswer, TurnEnd};

/// The name of the call by which a flow asks a question, as front ends of ADK know it.
pub(super) const INPUT: &str = "adk_request_input";

/// What the ids of calls, and of requests for approvals, begin with.
const CALL: &str = "call_";
const APPROVAL: &str = "mcpr_";

/// The names of calls that are requests to a person.
pub(super) const RESERVED: [&str; 3] = [CONFIRMATION, CREDENTIAL, INPUT];

/// A call of a function that the client answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FunctionCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments, as JSON.
    pub(super) arguments: String,
    /// The call of the agent that a person has to confirm, and the text for the person.
    pub(super) confirms: Option<(ToolCall, String)>,
}

/// Something that a thread waits for, with the id of its call.
#[derive(Clone, Debug)]
pub(super) enum Waits {
    Pending(Pending),
    /// A question of a flow, with its id.
    Question(String),
}

/// The calls for what a turn waits for at its end: the tools of the client, and requests to people. The results of the agent's own
/// long-running tools come from elsewhere.
pub(super) fn at_end(thread: &str, end: &TurnEnd) -> Vec<FunctionCall> {
    let pending = end.turn.pending.iter().filter_map(|pending| {
        let (name, arguments) = match pending {
            Pending::Result { call } if is_of_client(end, &call.name) => {
                (call.name.clone(), call.arguments.clone())
            }
            Pending::Confirmation { call, hint, .. } => {
                let call = json!({ "id": call.id, "name": call.name, "args": call.arguments });
                let hint = json!({ "hint": hint, "confirmed": false });
                let arguments = json!({ "originalFunctionCall": call, "toolConfirmation": hint });
                (CONFIRMATION.to_string(), arguments)
            }
            Pending::Credential { request, .. } => (CREDENTIAL.to_string(), json!(request)),
            _ => return None,
        };
        let confirms = match pending {
            Pending::Confirmation { call, hint, .. } => Some((call.clone(), hint.clone())),
            _ => None,
        };
        Some(FunctionCall {
            id: id(thread, pending.id()),
            name,
            arguments: arguments.to_string(),
            confirms,
        })
    });
    let questions = end.questions.iter().map(|question| FunctionCall {
        id: id(thread, &question.id),
        name: INPUT.to_string(),
        arguments: question.shown.to_string(),
        confirms: None,
    });
    pending.chain(questions).collect()
}

fn is_of_client(end: &TurnEnd, tool: &str) -> bool {
    end.turn.client.tools.iter().any(|spec| spec.name == tool)
}

/// The id of a call: the thread without the name of its flow, and a checksum of the request.
pub(super) fn id(thread: &str, request: &str) -> String {
    let own = thread.rsplit(':').next().unwrap_or(thread);
    format!("{CALL}{own}_{}", &digest(request)[..8])
}

/// The id of the request for an approval that is the call with this id.
pub(super) fn approval(call: &str) -> String {
    format!("{APPROVAL}{}", call.strip_prefix(CALL).unwrap_or(call))
}

/// The id of the call that is the request for an approval with this id.
pub(super) fn of_approval(approval: &str) -> String {
    format!(
        "{CALL}{}",
        approval.strip_prefix(APPROVAL).unwrap_or(approval)
    )
}

/// The part of the id of a thread after the name of its flow, in the id of a call.
pub(super) fn thread_of(call: &str) -> Option<&str> {
    let (own, checksum) = call.strip_prefix(CALL)?.rsplit_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (own.len() == 32 && checksum.len() == 8 && is_hex(own) && is_hex(checksum)).then_some(own)
}

/// The answer of a client to something that the conversation waits for.
pub(super) fn answer(pending: &Pending, result: Value) -> Option<PersonAnswer> {
    let id = pending.id().to_string();
    Some(match pending {
        Pending::Result { .. } => PersonAnswer::Result {
            id,
            content: result,
        },
        Pending::Confirmation { .. } => PersonAnswer::Decision(decision(id, &parsed(result))),
        Pending::Credential { .. } => {
            let mut result = parsed(result);
            let credential = match &mut result {
                Value::Object(fields) if fields.len() == 1 => fields.remove("credential"),
                _ => None,
            };
            PersonAnswer::Credential {
                id,
                credential: credential.unwrap_or(result),
            }
        }
        _ => return None,
    })
}

/// The value of a result that is JSON in a text.
pub(super) fn parsed(result: Value) -> Value {
    match result {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// A decision: `{"confirmed": true}`, with `reason` or other `arguments`; or `true`. Everything else refuses the call.
fn decision(id: String, result: &Value) -> CallDecision {
    let fields = result.as_object().cloned().unwrap_or_else(Map::new);
    let confirmed = fields.get("confirmed").unwrap_or(result);
    let reason = fields.get("reason").and_then(Value::as_str);
    CallDecision {
        id,
        approve: *confirmed == Value::Bool(true),
        reason: reason.map(String::from),
        arguments: fields.get("arguments").and_then(Value::as_object).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_call_names_its_thread() {
        let own = "0123456789abcdef0123456789abcdef";
        let id = id(&format!("guide:{own}"), "c1");
        assert_eq!(thread_of(&id), Some(own));
        assert_eq!(thread_of("call_abc"), None);
        assert_eq!(
            thread_of("call_of_another_server_with_a_long_name_00000000"),
            None
        );
    }

    #[test]
    fn only_a_clear_yes_approves() {
        let approves = |result: Value| decision("c".into(), &parsed(result)).approve;
        assert!(approves(json!(r#"{"confirmed": true}"#)));
        assert!(approves(json!("true")));
        for no in [
            json!("yes"),
            json!(r#"{"confirmed": "true"}"#),
            json!("{}"),
            json!(""),
        ] {
            assert!(!approves(no));
        }
    }
}
