//! The data about a response, and helpers that read its JSON. All parsers use them.

use genai::chat::StopReason;
use serde_json::{Map, Value};

use crate::{Delta, FinishReason, LlmResponse, Part, Reasoning, Status, Text, TokenUsage};

/// Data about a response.
#[derive(Debug, Default)]
pub(crate) struct ResponseData {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    /// The finish reason, as the provider names it.
    pub(super) finish: Option<String>,
    pub(super) usage: TokenUsage,
    pub(super) reasoning: Option<Reasoning>,
    /// Gemini's reason for blocking the request.
    pub(super) blocked: Option<String>,
    /// The sources of the answer, which Gemini sends outside the parts.
    pub(super) meta: Map<String, Value>,
    /// An error instead of a response, or in the middle of one.
    pub(crate) error: Option<Value>,
}

impl ResponseData {
    /// Whether the response has sent its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    /// The response without its message.
    pub(crate) fn response(&mut self) -> LlmResponse {
        let reason = self.blocked.clone().map(StopReason::ContentFilter);
        let reason = reason.or_else(|| self.finish.take().map(StopReason::from));
        let mut response = LlmResponse {
            id: self.id.take().unwrap_or_default(),
            model: self.model.take().unwrap_or_default(),
            usage: self.usage,
            reasoning: self.reasoning.take(),
            meta: std::mem::take(&mut self.meta).into_iter().collect(),
            ..with_stop_reason(reason)
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
pub(crate) fn with_stop_reason(reason: Option<StopReason>) -> LlmResponse {
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

pub(super) fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path)?.as_str().map(str::to_string)
}

/// Reasoning with a signature and without visible text.
pub(super) fn hidden_reasoning(signature: String) -> Delta {
    Delta::Part(Part::Thought(Text {
        text: String::new(),
        signature: Some(signature),
    }))
}

/// The prefix of the signature of redacted reasoning, which Anthropic hides and requires back.
pub(crate) const REDACTED: &str = "redacted:";

/// A redacted reasoning part.
pub(crate) fn redacted(block: &Value) -> Option<Part> {
    let is_redacted = block.get("type")? == "redacted_thinking";
    let data = block.get("data")?.as_str().filter(|_| is_redacted)?;
    Some(Part::Thought(Text {
        text: String::new(),
        signature: Some(format!("{REDACTED}{data}")),
    }))
}

/// The arguments of a call as JSON text. Most providers send text, some send the object itself.
pub(super) fn arguments_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(object) => object.to_string(),
    }
}
