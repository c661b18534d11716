//! A question or an approval that a thread waits for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question or an approval that a thread waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OpenInterrupt {
    /// Its id, which an answer names.
    id: String,
    /// The node that asks, or before or after which the run has stopped.
    node: String,
    /// The sub-flow with this node; empty at the top.
    namespace: String,
    /// The index of the item, if the node is the target of `each`.
    index: Option<u64>,
    /// A question, or an approval before or after the node.
    kind: InterruptKind,
    /// The name of a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    name: Option<String>,
    /// The value of a question.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Value")]
    question: Option<Value>,
    /// The text for a person.
    text: String,
    /// When it was first asked, in milliseconds since 1970 (UTC).
    asked_ms: u64,
    /// When the question expires and gets its default answer, in milliseconds since 1970 (UTC).
    expires_ms: Option<u64>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InterruptKind {
    /// The answer to a question of the node.
    Ask,
    /// An approval before the node runs.
    Before,
    /// An approval of what the node has written.
    After,
}

/// A value that is there, also if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}
