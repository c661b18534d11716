//! Provider responses, read from the frames of a stream or from a complete body. The format is detected from the data.
//! The `genai` library returns less than the provider sent, and joins parts that belong apart. Its result is used only
//! if the format is unknown here.

mod chat;
mod common;
mod counts;
mod gemini;
mod items;
mod messages;

use serde_json::Value;

use crate::{ChatMessage, Delta, LlmResponse, StreamAccumulator, TokenUsage};
use common::About;
pub(super) use common::{REDACTED, ended, redacted};

/// Reads one response.
#[derive(Debug, Default)]
pub(super) struct Wire {
    family: Option<Family>,
    pub(super) about: About,
}

/// The reader of a family of formats.
#[derive(Debug)]
enum Family {
    /// OpenAI's chat completions, which most other providers use too.
    Chat(chat::Chunks),
    /// OpenAI's responses.
    Items(items::Items),
    /// Anthropic's messages.
    Messages(messages::Blocks),
    Gemini(gemini::Chunks),
}

impl Wire {
    /// Reads a frame or a complete body, and returns the new content.
    pub(super) fn read(&mut self, frame: &Value) -> Vec<Delta> {
        if let Some(error) = error(frame) {
            self.about.error.get_or_insert(error);
            return Vec::new();
        }
        if self.family.is_none() {
            self.family = Family::of(frame);
        }
        let about = &mut self.about;
        match &mut self.family {
            None => Vec::new(),
            Some(Family::Chat(chunks)) => chunks.read(frame, about),
            Some(Family::Items(items)) => items.read(frame, about),
            Some(Family::Messages(blocks)) => blocks.read(frame, about),
            Some(Family::Gemini(chunks)) => chunks.read(frame, about),
        }
    }

    /// Whether the format of the response is known here.
    pub(super) fn is_known(&self) -> bool {
        self.family.is_some()
    }
}

impl Family {
    fn of(frame: &Value) -> Option<Self> {
        let has = |field| frame.get(field).is_some();
        let kind = frame
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_object = |name| frame.get("object").and_then(Value::as_str) == Some(name);
        if kind.starts_with("response.") || is_object("response") || frame["output"].is_array() {
            Some(Family::Items(items::Items::default()))
        } else if kind.starts_with("message_")
            || kind.starts_with("content_block_")
            || (kind == "message" && frame["content"].is_array())
            || (frame["content"].is_array() && has("stop_reason"))
        {
            Some(Family::Messages(messages::Blocks::default()))
        } else if frame["choices"].is_array() {
            Some(Family::Chat(chat::Chunks::default()))
        } else if has("candidates") || has("promptFeedback") || has("usageMetadata") {
            Some(Family::Gemini(gemini::Chunks::default()))
        } else {
            None
        }
    }
}

/// The complete response, if the format of the body is known here, or the error in the body.
pub(super) fn whole(body: &Value) -> Option<Result<LlmResponse, Value>> {
    let mut wire = Wire::default();
    let mut answer = StreamAccumulator::new();
    wire.read(body).iter().for_each(|delta| answer.push(delta));
    if let Some(error) = wire.about.error {
        return Some(Err(error));
    }
    wire.is_known()
        .then(|| Ok(answer.finish(wire.about.response())))
}

/// Whether a response is empty: even a response without content has a finish reason or a usage.
pub(super) fn is_empty(response: &LlmResponse) -> bool {
    let said: Option<&ChatMessage> = response.message.as_ref();
    said.is_none() && response.finish.is_none() && response.usage == TokenUsage::default()
}

/// The error in a frame.
fn error(frame: &Value) -> Option<Value> {
    let stated = frame.get("error").is_some_and(|error| match error {
        Value::Object(_) => true,
        Value::String(words) => !words.is_empty(),
        _ => false,
    });
    let named = frame.get("type").and_then(Value::as_str) == Some("error");
    (stated || named).then(|| frame.clone())
}
