//! The pieces of the chat completions: errors in choices, what of a call is not read, typed content.

use serde_json::{Map, Value, json};

use super::chat_opaque::CONTENT;
use super::origins;
use super::response_data::text;
use crate::provider::catalog::Target;
use crate::stream::Delta;
use crate::{ChatMessage, Part};

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

/// A typed chunk of content, as Mistral sends. What is neither text nor reasoning goes back as it is.
pub(super) fn typed_content(chunk: &Value, deltas: &mut Vec<Delta>) {
    let kind = chunk["type"].as_str();
    if let (None | Some("text"), Some(words)) = (kind, text(chunk, "/text")) {
        let is_empty = words.is_empty();
        deltas.push(Delta::Text(words));
        let rest = origins::left_over(chunk, &["type", "text"]);
        deltas.extend(origins::needed_back(None, rest).filter(|_| !is_empty));
    } else if let Some(thought) = text(chunk, "/thinking") {
        deltas.push(Delta::Thought(thought));
    } else if let Some(thoughts) = chunk["thinking"].as_array() {
        for thought in thoughts {
            deltas.push(match text(thought, "/text") {
                Some(words) => Delta::Thought(words),
                None => opaque_chunk(json!({ "type": "thinking", "thinking": [thought] })),
            });
        }
    } else if kind.is_some() {
        deltas.push(opaque_chunk(chunk.clone()));
    }
}

fn opaque_chunk(chunk: Value) -> Delta {
    origins::opaque(json!({ CONTENT: [chunk] }))
}

/// The content of a message as typed chunks in the order of its parts. `None` if it is text alone.
pub(super) fn typed_chunks(target: &Target<'_>, message: &ChatMessage) -> Option<Value> {
    let mut chunks: Vec<Value> = Vec::new();
    for part in &message.parts {
        let mut chunk = match part {
            Part::Text(text) if !text.text.is_empty() => {
                json!({ "type": "text", "text": text.text })
            }
            Part::Thought(thought) if !thought.text.is_empty() => {
                json!({ "type": "thinking", "thinking": [{ "type": "text", "text": thought.text }] })
            }
            Part::Code { .. } | Part::CodeResult { .. } => match part.code_as_text() {
                Some(text) => json!({ "type": "text", "text": text }),
                None => continue,
            },
            Part::Provider { .. } => {
                let opaque = target.opaque(part).and_then(|value| value.get(CONTENT));
                chunks.extend(
                    opaque
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
                continue;
            }
            _ => continue,
        };
        if chunk["type"] == "text" {
            target.add_fields(&mut chunk, part.origin());
        }
        chunks.push(chunk);
    }
    let is_plain = |chunk: &Value| {
        chunk["type"] == "text" && chunk.as_object().is_some_and(|chunk| chunk.len() == 2)
    };
    (!chunks.iter().all(is_plain)).then(|| chunks.into())
}
