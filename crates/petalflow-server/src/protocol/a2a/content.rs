//! The parts of messages, in both directions.

use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::{ChatMessage, Part as OwnPart, Role};
use serde_json::{Map, Value, json};

use super::error::{A2aError, ErrorKind};
use super::wire::{Message, Part};

/// The name of the data that a message of the conversation has about the message of the protocol.
const META: &str = "a2a";

/// The message of the user for the conversation.
pub(super) fn to_chat(message: &Message) -> Result<ChatMessage, A2aError> {
    let parts: Result<Vec<_>, _> = message.parts.iter().map(part).collect();
    let mut chat = ChatMessage::new(Role::User, parts?);
    // What a model does not read is kept beside the message.
    let beside = message.parts.iter().map(|part| {
        json!({ "filename": part.filename, "metadata": part.metadata, "isData": part.data.is_some() })
    });
    let about = json!({
        "messageId": message.id,
        "metadata": message.metadata,
        "extensions": message.extensions,
        "referenceTaskIds": message.reference_task_ids,
        "parts": beside.collect::<Value>(),
    });
    chat.meta.insert(META.to_string(), about);
    Ok(chat)
}

fn part(part: &Part) -> Result<OwnPart, A2aError> {
    match (&part.text, &part.raw, &part.url, &part.data) {
        (Some(text), None, None, None) => Ok(OwnPart::text(text.as_str())),
        (None, Some(raw), None, None) => media(part, MediaSource::Base64(raw.clone())),
        (None, None, Some(url), None) => media(part, MediaSource::Url(url.clone())),
        (None, None, None, Some(data)) => Ok(OwnPart::text(data.to_string())),
        _ => Err(ErrorKind::InvalidParams
            .with("a part has exactly one of the fields `text`, `raw`, `url` and `data`")),
    }
}

fn media(part: &Part, source: MediaSource) -> Result<OwnPart, A2aError> {
    if !part.media_type.contains('/') {
        return Err(ErrorKind::ContentTypeNotSupported
            .with("a part with a file has no `mediaType`: send one, such as `image/png`"));
    }
    Ok(OwnPart::Media(Media {
        media_type: part.media_type.clone(),
        source,
        origin: None,
    }))
}

/// The part of the protocol for a medium of an answer.
pub(super) fn media_part(media: &Media) -> Value {
    match &media.source {
        MediaSource::Base64(raw) => json!({ "raw": raw, "mediaType": media.media_type }),
        MediaSource::Url(url) => json!({ "url": url, "mediaType": media.media_type }),
        other => json!({ "data": other, "mediaType": media.media_type }),
    }
}

/// A message of the user in the log, as a message of the protocol. `id` is that of its event.
pub(super) fn of_chat(chat: &ChatMessage, id: &str, context: &str, task: &str) -> Value {
    let none = Value::Null;
    let about = chat.meta.get(META).unwrap_or(&none);
    let parts = chat.parts.iter().enumerate().filter_map(|(index, part)| {
        let beside = &about["parts"][index];
        let mut part = match part {
            OwnPart::Text(text) if beside["isData"] == true => {
                json!({ "data": serde_json::from_str::<Value>(&text.text).unwrap_or_default() })
            }
            OwnPart::Text(text) => json!({ "text": text.text }),
            OwnPart::Media(media) => media_part(media),
            _ => return None,
        };
        for field in ["filename", "metadata"] {
            put(&mut part, field, &beside[field]);
        }
        Some(part)
    });
    let mut message = json!({
        "messageId": about["messageId"].as_str().unwrap_or(id),
        "contextId": context,
        "taskId": task,
        "role": "ROLE_USER",
        "parts": parts.collect::<Value>(),
    });
    for field in ["metadata", "extensions", "referenceTaskIds"] {
        put(&mut message, field, &about[field]);
    }
    message
}

/// Sets a field, unless the value is empty.
fn put(object: &mut Value, field: &str, value: &Value) {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if !is_empty {
        object[field] = value.clone();
    }
}

/// Whether a client that accepts these media types takes the text and the JSON of answers.
pub(super) fn takes_text(modes: &[String]) -> bool {
    let takes = |mode: &String| {
        let mode = mode.split(';').next().unwrap_or_default().trim();
        ["text/plain", "text/*", "*/*", "text", "application/json"].contains(&mode)
    };
    modes.is_empty() || modes.iter().any(takes)
}

/// A message of the agent with these parts.
pub(super) fn of_agent(id: String, context: &str, task: &str, parts: Vec<Value>) -> Value {
    Value::Object(Map::from_iter([
        ("messageId".to_string(), id.into()),
        ("contextId".to_string(), context.into()),
        ("taskId".to_string(), task.into()),
        ("role".to_string(), "ROLE_AGENT".into()),
        ("parts".to_string(), parts.into()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_message_is_lost() {
        let sent = json!({
            "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
            "parts": [
                { "text": "Look" },
                { "raw": "R0lGOD", "mediaType": "image/gif", "filename": "dot.gif" },
                { "url": "https://example.com/a.pdf", "mediaType": "application/pdf", "metadata": { "page": 2 } },
                { "data": { "a": [1, null] } },
                { "data": null },
            ],
            "metadata": { "k": 1 }, "referenceTaskIds": ["r"],
        });
        let message: Message = serde_json::from_value(sent.clone()).expect("a message");
        let chat = to_chat(&message).expect("it is kept");
        assert_eq!(of_chat(&chat, "e", "c", "t"), sent);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for part in [
            json!({}),
            json!({ "raw": "R0lGOD" }),
            json!({ "text": "a", "data": 1 }),
        ] {
            let message = serde_json::from_value(json!({ "parts": [part] })).expect("a message");
            assert!(to_chat(&message).is_err());
        }
    }
}
