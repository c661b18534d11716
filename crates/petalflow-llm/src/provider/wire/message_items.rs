//! The messages of OpenAI's responses: items with parts of content. A text in a conversation is one such part.

use serde_json::{Map, Value, json};

use super::citations;
use super::origins;
use super::response_data::text;
use crate::stream::Delta;

/// The words of a part of the content.
pub(super) fn words(part: &Value) -> Option<String> {
    text(part, "/text").or_else(|| text(part, "/refusal"))
}

/// The text of a message that arrived whole. What is needed back with the last part comes at its end.
pub(super) fn read(item: &Value, deltas: &mut Vec<Delta>) {
    let parts = parts(item).filter(|part| words(part).is_some_and(|words| !words.is_empty()));
    let mut before: Option<&Value> = None;
    for part in parts {
        if let Some(before) = before.replace(part) {
            let mut fields = part_fields(before);
            fields.extend(item.get("id").map(|id| ("id".to_string(), id.clone())));
            deltas.push(origins::needed_back(None, fields).unwrap_or_else(origins::end_of_text));
            deltas.extend(sources(before));
        }
        deltas.extend(words(part).map(Delta::Text));
    }
}

/// The sources that a part cites.
pub(super) fn sources(part: &Value) -> Vec<Delta> {
    citations::of_annotations(&words(part).unwrap_or_default(), &part["annotations"])
}

/// What a part has beside its words, as a field of its message.
pub(super) fn part_fields(part: &Value) -> Map<String, Value> {
    content_field(vec![part_left_over(part)])
}

/// What is needed back with the last text of a message: the fields of the message, those of the part, and the parts that are
/// no text.
pub(super) fn end_fields(item: &Value) -> Map<String, Value> {
    let mut fields = origins::left_over(item, &["type", "role", "content"]);
    let last = parts(item).filter(|part| words(part).is_some()).last();
    let mut content = vec![last.map_or_else(|| json!({}), part_left_over)];
    content.extend(parts(item).filter(|part| words(part).is_none()).cloned());
    fields.extend(content_field(content));
    fields
}

/// Adds a text to the items: to the message that it came with, if that is the last one.
pub(super) fn add(items: &mut Vec<Value>, words: &str, fields: &Map<String, Value>) {
    let id = fields.get("id");
    let is_same = |last: &Value| last["type"] == "message" && id.is_some() && last.get("id") == id;
    if !items.last().is_some_and(is_same) {
        items.push(json!({ "type": "message", "role": "assistant", "content": [] }));
    }
    let Some(item) = items.last_mut() else { return };
    let mut rest = fields.clone();
    let content = rest.remove("content");
    let mut content = content
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let own = content.next().and_then(Value::as_object);
    let kind = own.and_then(|own| own.get("type")).and_then(Value::as_str);
    let mut part = match kind {
        Some("refusal") => json!({ "type": "refusal", "refusal": words }),
        _ => json!({ "type": "output_text", "text": words }),
    };
    for (name, value) in own.into_iter().flatten() {
        part[name.as_str()] = value.clone();
    }
    if let Some(parts) = item["content"].as_array_mut() {
        parts.push(part);
        parts.extend(content.cloned());
    }
    for (name, value) in rest {
        item[name] = value;
    }
}

fn parts(item: &Value) -> impl Iterator<Item = &Value> {
    chunks(item, "content")
}

fn part_left_over(part: &Value) -> Value {
    // The usual type need not be stored.
    let is_usual = part["type"] == "output_text";
    let read: &[&str] = if is_usual {
        &["type", "text"]
    } else {
        &["text", "refusal"]
    };
    origins::left_over(part, read).into()
}

/// The field with these parts. None if there is nothing in them.
fn content_field(parts: Vec<Value>) -> Map<String, Value> {
    let is_empty = |part: &Value| part.as_object().is_some_and(Map::is_empty);
    if parts.iter().all(is_empty) {
        return Map::new();
    }
    Map::from_iter([("content".to_string(), parts.into())])
}

/// Whether only the provider uses the item.
pub(super) fn is_opaque(item: &Value) -> bool {
    match item.get("type").and_then(Value::as_str) {
        None | Some("function_call" | "reasoning") => false,
        // A message of content that is not text.
        Some("message") => {
            chunks(item, "content").next().is_some()
                && chunks(item, "content").all(|chunk| words(chunk).is_none())
        }
        Some(_) => true,
    }
}

/// The text of a message, or nothing for another item.
pub(super) fn full_text(item: &Value) -> String {
    if item.get("type").and_then(Value::as_str) != Some("message") {
        return String::new();
    }
    chunks(item, "content").filter_map(words).collect()
}

/// The items of a list in an item.
pub(super) fn chunks<'v>(item: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    item.get(field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
