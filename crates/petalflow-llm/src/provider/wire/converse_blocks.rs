//! The blocks of `Converse`: what of them is not read, and the formats of media.

use serde_json::{Map, Value, json};

use super::origins;
use super::response_data::ResponseData;
use crate::message::Media;

/// The kind of a block for this medium, and its format.
pub(super) fn format_of(media: &Media) -> Option<(&'static str, &str)> {
    let (kind, format) = media.media_type.split_once('/')?;
    Some(match (kind, format) {
        ("image", format) => ("image", format),
        ("video", "quicktime") => ("video", "mov"),
        ("video", "3gpp") => ("video", "three_gp"),
        ("video", format) => ("video", format),
        ("audio", _) => return None,
        ("text", "plain") => ("document", "txt"),
        ("text", "markdown") => ("document", "md"),
        ("application", "msword") => ("document", "doc"),
        ("application", "vnd.openxmlformats-officedocument.wordprocessingml.document") => {
            ("document", "docx")
        }
        ("application", "vnd.ms-excel") => ("document", "xls"),
        ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet") => {
            ("document", "xlsx")
        }
        (_, format) => ("document", format),
    })
}

pub(super) const READ_OF_CALLS: [&str; 3] = ["toolUseId", "name", "input"];

/// What a block and the object under its name have beside what is read.
pub(super) fn left_over(block: &Value, name: &str, read: &[&str]) -> Map<String, Value> {
    let mut fields = origins::left_over(block, &[name]);
    let content = origins::left_over(&block[name], read);
    if !content.is_empty() {
        fields.insert(name.to_string(), content.into());
    }
    fields
}

/// What of a reasoning block is not read, in the field of it with this name, as fields of the block.
pub(super) fn reasoning_fields(
    field: Option<&str>,
    rest: Map<String, Value>,
) -> Map<String, Value> {
    if rest.is_empty() {
        return rest;
    }
    let content = match field {
        Some(field) => json!({ field: rest }),
        None => rest.into(),
    };
    Map::from_iter([("reasoningContent".to_string(), content)])
}

/// The name of a block of text with the sources of this text.
pub(super) const CITED: &str = "citationsContent";

/// The text of a block with sources, and what it has beside the text.
pub(super) fn cited_text(block: &Value) -> Option<(String, Map<String, Value>)> {
    let content = block[CITED]["content"].as_array()?;
    let texts = content.iter().map(|one| one["text"].as_str());
    let text = texts.collect::<Option<String>>()?;
    let mut fields = origins::left_over(block, &[CITED]);
    let mut cited = origins::left_over(&block[CITED], &["content"]);
    let rest: Vec<_> = content
        .iter()
        .map(|one| origins::left_over(one, &["text"]))
        .collect();
    if rest.iter().any(|rest| !rest.is_empty()) {
        cited.insert("content".to_string(), json!(rest));
    }
    fields.insert(CITED.to_string(), cited.into());
    Some((text, fields))
}

/// The block for a text with these fields.
pub(super) fn text_block(text: &str, fields: Option<&Map<String, Value>>) -> Value {
    match fields {
        Some(fields) if fields.contains_key(CITED) => {
            json!({ CITED: { "content": [{ "text": text }] } })
        }
        _ => json!({ "text": text }),
    }
}

/// Adds what a piece of a text in a stream has beside words. Sources are pieces of their own.
pub(super) fn add_text_fields(rest: &mut Map<String, Value>, delta: &Value) {
    rest.extend(origins::left_over(delta, &["text", "citation"]));
    let Some(citation) = delta.get("citation") else {
        return;
    };
    let cited = rest
        .entry(CITED)
        .or_insert_with(|| json!({ "citations": [] }));
    if let Some(citations) = cited["citations"].as_array_mut() {
        citations.push(citation.clone());
    }
}

/// Adds what guardrails found, and fields of the model, to the response's `meta`.
pub(super) fn add_fields(event: &Value, data: &mut ResponseData) {
    for name in ["trace", "additionalModelResponseFields"] {
        if let Some(value) = event.get(name).filter(|value| !value.is_null()) {
            data.meta.insert(name.to_string(), value.clone());
        }
    }
}
