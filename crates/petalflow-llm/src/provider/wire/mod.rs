//! Provider responses, read from the frames of a stream or from a complete body. The format is detected from the data.
//! The `genai` library returns less than the provider sent, and joins separate parts. Its result is used only
//! if the format is unknown here.

mod chat;
mod gemini;
mod messages;
mod response_data;
mod responses;
mod usage;

use serde_json::Value;

use crate::{Delta, LlmResponse, StreamAccumulator, TokenUsage};
use response_data::ResponseData;
pub(super) use response_data::{REDACTED, redacted, with_stop_reason};

/// Reads one response.
#[derive(Debug, Default)]
pub(super) struct ResponseParser {
    format: Option<Format>,
    pub(super) data: ResponseData,
}

/// The reader of a family of formats.
#[derive(Debug)]
enum Format {
    /// OpenAI's chat completions, which most other providers use too.
    Chat(chat::ChatParser),
    /// OpenAI's responses.
    Responses(responses::ResponsesParser),
    /// Anthropic's messages.
    Messages(messages::MessagesParser),
    Gemini(gemini::GeminiParser),
}

impl ResponseParser {
    /// Reads a frame or a complete body, and returns the new content.
    pub(super) fn read(&mut self, frame: &Value) -> Vec<Delta> {
        if let Some(error) = error(frame) {
            self.data.error.get_or_insert(error);
            return Vec::new();
        }
        if self.format.is_none() {
            self.format = Format::detect(frame);
        }
        let data = &mut self.data;
        match &mut self.format {
            None => Vec::new(),
            Some(Format::Chat(parser)) => parser.read(frame, data),
            Some(Format::Responses(parser)) => parser.read(frame, data),
            Some(Format::Messages(parser)) => parser.read(frame, data),
            Some(Format::Gemini(parser)) => parser.read(frame, data),
        }
    }

    /// Whether the format of the response is known here.
    pub(super) fn is_known(&self) -> bool {
        self.format.is_some()
    }
}

impl Format {
    fn detect(frame: &Value) -> Option<Self> {
        let has = |field| frame.get(field).is_some();
        let kind = frame
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_object = |name| frame.get("object").and_then(Value::as_str) == Some(name);
        if kind.starts_with("response.") || is_object("response") || frame["output"].is_array() {
            Some(Format::Responses(responses::ResponsesParser::default()))
        } else if kind.starts_with("message_")
            || kind.starts_with("content_block_")
            || (kind == "message" && frame["content"].is_array())
            || (frame["content"].is_array() && has("stop_reason"))
        {
            Some(Format::Messages(messages::MessagesParser::default()))
        } else if frame["choices"].is_array() {
            Some(Format::Chat(chat::ChatParser::default()))
        } else if has("candidates") || has("promptFeedback") || has("usageMetadata") {
            Some(Format::Gemini(gemini::GeminiParser::default()))
        } else {
            None
        }
    }
}

/// The complete response, if the format of the body is known here, or the error in the body.
pub(super) fn parse_body(body: &Value) -> Option<Result<LlmResponse, Value>> {
    let mut parser = ResponseParser::default();
    let mut accumulator = StreamAccumulator::new();
    parser
        .read(body)
        .iter()
        .for_each(|delta| accumulator.push(delta));
    if let Some(error) = parser.data.error {
        return Some(Err(error));
    }
    parser
        .is_known()
        .then(|| Ok(accumulator.finish(parser.data.response())))
}

/// Whether a response is empty: even a response without content has a finish reason or a usage.
pub(super) fn is_empty(response: &LlmResponse) -> bool {
    response.message.is_none()
        && response.finish.is_none()
        && response.usage == TokenUsage::default()
}

/// The error in a frame.
fn error(frame: &Value) -> Option<Value> {
    let has_error = frame.get("error").is_some_and(|error| match error {
        Value::Object(_) => true,
        Value::String(text) => !text.is_empty(),
        _ => false,
    });
    let is_error_event = frame.get("type").and_then(Value::as_str) == Some("error");
    (has_error || is_error_event).then(|| frame.clone())
}
