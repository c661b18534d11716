//! Provider responses, read from the frames of a stream or from a complete body. The format is detected from the data.
//! The `genai` library returns less than the provider sent, and joins parts that belong apart. Its result is used only
//! if the format is unknown here.

mod chat;
mod counts;
mod gemini;
mod items;
mod messages;

use genai::chat::StopReason;
use serde_json::{Map, Value};

use super::super::Part;
use super::super::{
    ChatMessage, Delta, FinishReason, LlmResponse, Reasoning, Status, StreamAccumulator, Text,
    TokenUsage,
};

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

/// Data about a response.
#[derive(Debug, Default)]
pub(super) struct About {
    id: Option<String>,
    model: Option<String>,
    /// The finish reason, as the provider names it.
    finish: Option<String>,
    usage: TokenUsage,
    reasoning: Option<Reasoning>,
    /// Gemini's reason for blocking the request.
    blocked: Option<String>,
    /// The sources of the answer, which Gemini sends outside the parts.
    meta: Map<String, Value>,
    /// An error instead of a response, or in the middle of one.
    pub(super) error: Option<Value>,
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

impl About {
    /// Whether the response has sent its end.
    pub(super) fn has_ended(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    /// The response without its message.
    pub(super) fn response(&mut self) -> LlmResponse {
        let word = self.blocked.clone().map(StopReason::ContentFilter);
        let word = word.or_else(|| self.finish.take().map(StopReason::from));
        let mut response = LlmResponse {
            id: self.id.take().unwrap_or_default(),
            model: self.model.take().unwrap_or_default(),
            usage: self.usage,
            reasoning: self.reasoning.take(),
            meta: std::mem::take(&mut self.meta).into_iter().collect(),
            ..ended(word)
        };
        if let Some(reason) = self.blocked.take() {
            response
                .meta
                .insert("block_reason".to_string(), reason.into());
        }
        response
    }
}

/// The response for this stop reason.
pub(super) fn ended(reason: Option<StopReason>) -> LlmResponse {
    let finish = reason.map(|reason| match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => FinishReason::Stop,
        StopReason::MaxTokens(_) => FinishReason::Length,
        StopReason::ToolCall(_) => FinishReason::ToolCalls,
        StopReason::ContentFilter(_) => FinishReason::ContentFilter,
        StopReason::Other(reason) => FinishReason::Other(reason),
    });
    let status = match &finish {
        Some(FinishReason::Other(reason)) if reason == "failed" => Status::Failed,
        Some(FinishReason::Length | FinishReason::ContentFilter | FinishReason::Other(_)) => {
            Status::Incomplete
        }
        _ => Status::Completed,
    };
    LlmResponse {
        status,
        finish,
        ..LlmResponse::default()
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

fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path)?.as_str().map(str::to_string)
}

/// Reasoning with a signature and without visible text.
fn hidden(signature: String) -> Delta {
    Delta::Part(Part::Thought(Text {
        text: String::new(),
        signature: Some(signature),
    }))
}

/// The arguments of a call as JSON text. Most providers send text, some send the object itself.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(written)) => written.clone(),
        Some(written) => written.to_string(),
    }
}
