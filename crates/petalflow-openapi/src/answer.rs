//! What a service answers, for a model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use petalflow::tool::ToolError;
use petalflow_llm::message::{Media, MediaSource};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::media_type::{essence, is_json};
use super::secrets::Secrets;

/// The longest text of an error, in characters.
const LONGEST_ERROR: usize = 2_000;

/// An answer as it was received.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// The server to which a redirect leads.
    pub(super) redirect: Option<String>,
}

/// The result of a tool: JSON as a value, texts, and media that models can read. Any other status than a success is an error.
pub(super) fn read(title: &str, answer: Answer, secrets: &Secrets) -> Result<Value, ToolError> {
    if !answer.status.is_success() {
        return Err(ToolError::failed(problem(title, &answer, secrets)));
    }
    if answer.body.is_empty() {
        return Ok(json!({ "status": answer.status.as_u16() }));
    }
    let essence = essence(&answer.content_type);
    let kind = essence.split('/').next().unwrap_or_default();
    if matches!(kind, "image" | "audio" | "video") || essence == "application/pdf" {
        let media = Media {
            media_type: essence,
            source: MediaSource::Base64(STANDARD.encode(&answer.body)),
            origin: None,
        };
        return Ok(media.to_block());
    }
    let text = String::from_utf8(answer.body).map_err(|error| {
        let bytes = error.as_bytes().len();
        ToolError::failed(format!(
            "`{title}` was answered with {bytes} bytes of `{essence}`, which is neither text nor a picture"
        ))
    })?;
    let value = match serde_json::from_str(&text) {
        Ok(value) if is_json(&essence) || essence.is_empty() => value,
        // What is no JSON, though it says so, is a text.
        _ => Value::String(text),
    };
    // `null` would say that the result comes later.
    Ok(match secrets.value(value) {
        Value::Null => json!({ "status": answer.status.as_u16(), "body": null }),
        value => value,
    })
}

fn problem(title: &str, answer: &Answer, secrets: &Secrets) -> String {
    let status = answer.status;
    if let Some(server) = &answer.redirect {
        return format!(
            "`{title}` was answered with status {status}, a redirect to `{server}`, which is not followed: only a few redirects within one server are"
        );
    }
    let text = secrets.text(String::from_utf8_lossy(&answer.body).into_owned());
    let text = text.trim();
    let text = match text.char_indices().nth(LONGEST_ERROR) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.into(),
    };
    let between = if text.is_empty() { "" } else { ": " };
    format!("`{title}` was answered with status {status}{between}{text}")
}
