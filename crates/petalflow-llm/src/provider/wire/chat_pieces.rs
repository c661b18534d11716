//! The pieces of the chat completions: errors in choices, what of a call is not read, typed content.

use serde_json::{Map, Value, json};

use super::origins;
use super::response_data::text;
use crate::stream::Delta;

/// The error in a choice, as the body of an error: a gateway sends it there when the provider behind it has failed.
pub(super) fn error_in(choice: &Value) -> Option<Value> {
    let error = choice.get("error").filter(|error| !error.is_null());
    let has_failed = choice["finish_reason"] == "error";
    match error {
        Some(error) => Some(json!({ "error": error })),
        None if has_failed => {
            Some(json!({ "error": { "message": "the answer ended with the reason `error`" } }))
        }
        None => None,
    }
}

/// What a call has beside what is read.
pub(super) fn call_left_over(call: &Value) -> Map<String, Value> {
    let mut fields = origins::left_over(call, &["index", "id", "type", "function"]);
    let function = origins::left_over(&call["function"], &["name", "arguments"]);
    if !function.is_empty() {
        fields.insert("function".to_string(), function.into());
    }
    fields
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// A typed chunk of content, as Mistral sends.
pub(super) fn typed_content(chunk: &Value, deltas: &mut Vec<Delta>) {
    deltas.extend(text(chunk, "/text").map(Delta::Text));
    deltas.extend(text(chunk, "/thinking").map(Delta::Thought));
    let reasoning = chunk.get("thinking").and_then(Value::as_array);
    let reasoning = reasoning.into_iter().flatten();
    deltas.extend(
        reasoning
            .filter_map(|one| text(one, "/text"))
            .map(Delta::Thought),
    );
}
