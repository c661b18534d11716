//! Something that a thread waits for, of a flow of any kind: a question, an approval, or a call of an agent.

#[cfg(feature = "agent")]
use petalflow::tool::ToolCall;
#[cfg(feature = "agent")]
use petalflow_agent::Pending;
use serde_json::{Value, json};

use super::open_question::{OpenQuestion, QuestionKind};

/// Something that a thread waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wait {
    /// The id to answer.
    pub(crate) id: String,
    pub(crate) kind: WaitKind,
    /// The text for a person.
    pub(crate) text: String,
    /// The call, the request or the question.
    pub(crate) data: Value,
    /// The JSON Schema of the answer.
    pub(crate) schema: Value,
}

/// The kind of what a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "agent"),
    allow(dead_code, reason = "only agents have calls that wait")
)]
pub(crate) enum WaitKind {
    /// A person must decide about a call.
    Confirmation,
    Credential,
    /// The result of a call.
    Result,
    /// A question of the flow.
    Question,
    /// The approval of a node of the flow.
    Approval,
}

impl WaitKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            WaitKind::Confirmation => "confirmation",
            WaitKind::Credential => "credential",
            WaitKind::Result => "result",
            WaitKind::Question => "question",
            WaitKind::Approval => "approval",
        }
    }

    /// The kind of a call with this name. `None` for what is answered within a turn.
    #[cfg(feature = "agent")]
    pub(crate) fn of_call(name: &str) -> Option<Self> {
        let calls = [
            WaitKind::Confirmation,
            WaitKind::Credential,
            WaitKind::Result,
        ];
        calls.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The input of an agent with an answer to the call with this id, which begins its next turn.
    #[cfg(feature = "agent")]
    pub(crate) fn input(self, id: &str, answer: Value) -> Value {
        match self {
            WaitKind::Credential => json!({ "credentials": { id: field(answer, "credential") } }),
            WaitKind::Result => json!({ "results": { id: field(answer, "result") } }),
            _ => {
                let mut decision = answer;
                if let Some(fields) = decision.as_object_mut() {
                    fields.insert("id".into(), id.into());
                }
                json!({ "decisions": [decision] })
            }
        }
    }
}

impl Wait {
    /// As clients see it. `since_ms`: since when the thread waits for it, if the request does not say.
    pub(super) fn value(&self, since_ms: u64) -> Value {
        let data = &self.data;
        let (name, arguments) = match self.kind {
            WaitKind::Confirmation | WaitKind::Result => (&data["name"], &data["arguments"]),
            WaitKind::Credential => (&Value::Null, data),
            WaitKind::Question => (&data["name"], &data["question"]),
            WaitKind::Approval => (&data["node"], &Value::Null),
        };
        json!({
            "id": self.id,
            "kind": self.kind.as_str(),
            "text": self.text,
            "name": name,
            "arguments": arguments,
            "node": data["node"],
            "asked_ms": data["asked_ms"].as_u64().unwrap_or(since_ms),
            "expires_ms": data["expires_ms"],
            "schema": self.schema,
        })
    }

    /// `None` for what a later version of petalflow waits for.
    #[cfg(feature = "agent")]
    pub(crate) fn of_pending(pending: &Pending) -> Option<Self> {
        let id = pending.id().to_string();
        Some(match pending {
            Pending::Confirmation { call, hint, .. } => Wait {
                id,
                kind: WaitKind::Confirmation,
                text: if hint.is_empty() {
                    format!("May the tool `{}` be called?", call.name)
                } else {
                    hint.clone()
                },
                data: shown(call),
                schema: json!({
                    "type": "object",
                    "properties": {
                        "approve": { "type": "boolean", "description": "Whether the call is made." },
                        "reason": { "type": "string", "description": "Why not. The model reads it." },
                        "arguments": { "type": "object", "description": "Other arguments for the call." },
                    },
                    "required": ["approve"],
                }),
            },
            Pending::Credential { request, .. } => Wait {
                id,
                kind: WaitKind::Credential,
                text: if request.hint.is_empty() {
                    "A credential is needed.".to_string()
                } else {
                    request.hint.clone()
                },
                data: json!(request),
                schema: json!({ "type": "object", "properties": { "credential": {} }, "required": ["credential"] }),
            },
            Pending::Result { call, .. } => Wait {
                id,
                kind: WaitKind::Result,
                text: format!("The result of the tool `{}` comes later.", call.name),
                data: shown(call),
                schema: json!({ "type": "object", "properties": { "result": {} }, "required": ["result"] }),
            },
            _ => return None,
        })
    }
}

#[cfg(feature = "agent")]
fn shown(call: &ToolCall) -> Value {
    json!({ "id": call.id, "name": call.name, "arguments": call.arguments })
}

impl From<&OpenQuestion> for Wait {
    fn from(open: &OpenQuestion) -> Self {
        Wait {
            id: open.id.clone(),
            kind: match open.kind {
                QuestionKind::Question => WaitKind::Question,
                QuestionKind::Approval => WaitKind::Approval,
            },
            text: open.text.clone(),
            data: open.shown.clone(),
            schema: open.schema.clone(),
        }
    }
}

/// The value of a field that is the only one, or the value itself.
#[cfg(feature = "agent")]
pub(crate) fn field(mut answer: Value, name: &str) -> Value {
    let only = answer
        .as_object_mut()
        .filter(|fields| fields.len() == 1)
        .and_then(|fields| fields.remove(name));
    only.unwrap_or(answer)
}
