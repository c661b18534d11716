//! The parts of Gemini's answers, and what is beside them.

use serde_json::{Map, Value};

use super::origins;
use crate::Part;
use crate::message::{Media, MediaSource};

/// The data of a candidate that is outside its parts: the sources of the answer.
pub(super) fn source_metadata(candidate: &Value) -> Map<String, Value> {
    let kinds = [
        "groundingMetadata",
        "citationMetadata",
        "urlContextMetadata",
        "logprobsResult",
        "avgLogprobs",
    ];
    let metadata = kinds.into_iter().filter_map(|kind| {
        let value = candidate.get(kind)?;
        (!value.is_null()).then(|| (kind.to_string(), value.clone()))
    });
    metadata.collect()
}

/// What a part with text has beside what is read.
pub(super) fn text_left_over(part: &Value) -> Map<String, Value> {
    origins::left_over(part, &["text", "thought", "thoughtSignature"])
}

/// What a part with a call has beside what is read.
pub(super) fn call_left_over(part: &Value) -> Map<String, Value> {
    const READ: [&str; 5] = ["name", "args", "id", "willContinue", "partialArgs"];
    let mut fields = origins::left_over(part, &["functionCall", "thoughtSignature"]);
    let call = origins::left_over(&part["functionCall"], &READ);
    if !call.is_empty() {
        fields.insert("functionCall".to_string(), call.into());
    }
    fields
}

/// The kinds of parts that arrive complete, with the fields that are read.
const COMPLETE: [(&str, [&str; 2]); 4] = [
    ("inlineData", ["mimeType", "data"]),
    ("fileData", ["mimeType", "fileUri"]),
    ("executableCode", ["language", "code"]),
    ("codeExecutionResult", ["outcome", "output"]),
];

/// A part that arrives complete. A part of another kind is sent back as it is.
pub(super) fn complete_part(part: &Value) -> Option<Part> {
    let known = COMPLETE.iter().find(|(kind, _)| part.get(kind).is_some());
    let Some((kind, fields)) = known else {
        let is_part = part.as_object().is_some_and(|part| !part.is_empty());
        return is_part.then(|| Part::Provider {
            provider: String::new(),
            value: part.clone(),
        });
    };
    let [first, second] = fields.map(|field| text(&part[kind], field));
    let origin = origins::fields(left_over(part, kind, fields));
    let media = |source: fn(String) -> MediaSource| {
        Some(Part::Media(Media {
            media_type: first.clone()?,
            source: source(second.clone()?),
            origin: origin.clone(),
        }))
    };
    match *kind {
        "inlineData" => media(MediaSource::Base64),
        "fileData" => media(MediaSource::Url),
        "executableCode" => Some(Part::Code {
            language: first.unwrap_or_default(),
            code: second.unwrap_or_default(),
            origin,
        }),
        _ => Some(Part::CodeResult {
            outcome: first.unwrap_or_default(),
            output: second.unwrap_or_default(),
            origin,
        }),
    }
}

/// What a part has besides the fields that are read: its signature, and an id.
fn left_over(part: &Value, kind: &str, read: &[&str]) -> Map<String, Value> {
    let mut fields = part.as_object().cloned().unwrap_or_default();
    if let Some(Value::Object(content)) = fields.get_mut(kind) {
        read.iter().for_each(|field| drop(content.remove(*field)));
        if content.is_empty() {
            fields.remove(kind);
        }
    }
    fields
}

pub(super) fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_string)
}
