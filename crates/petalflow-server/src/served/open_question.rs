//! Questions and approvals that a flow waits for, as protocols show them.

use serde_json::{Value, json};

use super::question::Questions;

/// A question or an approval that a flow waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenQuestion {
    /// The id to answer.
    pub(crate) id: String,
    pub(crate) kind: QuestionKind,
    /// The text for a person.
    pub(crate) text: String,
    /// The JSON Schema of the [body](super::AnswerBody) of the answer.
    pub(crate) schema: Value,
    /// All of it, as an [`Interrupt`](petalflow::interrupt::Interrupt) is serialized.
    pub(crate) shown: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    Question,
    /// The approval of a node.
    Approval,
}

impl OpenQuestion {
    /// Of a serialized `Interrupt`, in a view of a thread or in a log of events.
    pub(crate) fn of(shown: Value, questions: &Questions) -> Option<Self> {
        let text = ["/question/prompt", "/question/text", "/question"];
        let mut text = text
            .iter()
            .filter_map(|place| shown.pointer(place)?.as_str());
        let (kind, schema) = match shown["kind"].as_str()? {
            "ask" => {
                // Without a schema, clients cannot answer it.
                let answer = shown["name"]
                    .as_str()
                    .and_then(|name| questions.schema(name));
                let answer = answer.cloned().unwrap_or_else(|| json!({}));
                (QuestionKind::Question, answer_schema(&answer))
            }
            _ => (QuestionKind::Approval, approval_schema()),
        };
        Some(OpenQuestion {
            id: shown["id"].as_str()?.to_string(),
            kind,
            text: text
                .next()
                .map_or_else(|| default_text(&shown), ToString::to_string),
            schema,
            shown,
        })
    }
}

/// The text of a question that has none.
fn default_text(shown: &Value) -> String {
    let node = shown["node"].as_str().unwrap_or_default();
    match shown["kind"].as_str() {
        Some("before") => format!("May the node `{node}` run?"),
        Some("after") => format!("Is the result of the node `{node}` approved?"),
        _ => "An answer is needed.".into(),
    }
}

fn answer_schema(answer: &Value) -> Value {
    json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] })
}

fn approval_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": { "enum": ["approve", "reject", "skip"] },
            "reason": { "type": "string" },
        },
        "required": ["decision"],
    })
}
