//! The data about a response, and helpers that read its JSON. All parsers use them.

use serde_json::{Map, Value};

use crate::message::Text;
use crate::provider::content_filter;
use crate::response::{FinishReason, Reasoning, Status};
use crate::stream::Delta;
use crate::{LlmResponse, Part, TokenUsage};

/// Data about a response.
#[derive(Debug, Default)]
pub(crate) struct ResponseData {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    /// The finish reason, as the provider names it.
    pub(super) finish: Option<String>,
    pub(super) usage: TokenUsage,
    pub(super) reasoning: Option<Reasoning>,
    /// The provider's reason for blocking the prompt.
    pub(super) blocked: Option<String>,
    /// The words of a refusal, which OpenAI sends apart from the text.
    pub(super) refusal: String,
    /// What the provider says about its reason.
    pub(super) finish_message: Option<String>,
    /// The sources of the answer, which Gemini sends outside the parts.
    pub(super) meta: Map<String, Value>,
    /// The container in which Anthropic runs code.
    pub(super) container: Option<Value>,
    /// Whether the last event has arrived.
    pub(super) closed: bool,
    /// An error instead of a response, or in the middle of one.
    pub(crate) error: Option<Value>,
}

impl ResponseData {
    /// Whether the response has sent its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    /// A call ended the response, and it was the answer.
    pub(super) fn calls_are_the_answer(&mut self) {
        let is_call = |reason: &String| finish_reason(reason.clone()) == FinishReason::ToolCalls;
        if self.finish.as_ref().is_some_and(is_call) {
            self.finish = Some("stop".to_string());
        }
    }

    /// The response without its message.
    pub(crate) fn response(&mut self) -> LlmResponse {
        let finish = match &self.blocked {
            Some(_) => Some(FinishReason::Blocked),
            None => self.finish.take().map(finish_reason),
        };
        let refusal = Some(std::mem::take(&mut self.refusal)).filter(|words| !words.is_empty());
        let finish = match finish {
            Some(FinishReason::Stop | FinishReason::ContentFilter) if refusal.is_some() => {
                Some(FinishReason::Refusal)
            }
            finish => finish,
        };
        let filtered =
            (finish == Some(FinishReason::ContentFilter)).then(|| self.filtered_categories());
        let finish_message = [
            self.blocked.take(),
            self.finish_message.take(),
            refusal,
            filtered.flatten(),
        ];
        let status = match &finish {
            Some(FinishReason::Other(reason)) if reason == "failed" => Status::Failed,
            None | Some(FinishReason::Stop | FinishReason::ToolCalls) => Status::Completed,
            Some(_) => Status::Incomplete,
        };
        LlmResponse {
            id: self.id.take().unwrap_or_default(),
            model: self.model.take().unwrap_or_default(),
            status,
            finish,
            finish_message: finish_message.into_iter().flatten().next(),
            usage: self.usage,
            reasoning: self.reasoning.take(),
            meta: std::mem::take(&mut self.meta),
            ..LlmResponse::default()
        }
    }

    /// What Azure's filter found in the answer.
    fn filtered_categories(&self) -> Option<String> {
        let categories =
            content_filter::filtered_categories(self.meta.get(content_filter::RESULTS)?);
        (!categories.is_empty()).then(|| categories.join(", "))
    }
}

/// The reason under its common name.
fn finish_reason(reason: String) -> FinishReason {
    match &*reason {
        "stop" | "end_turn" | "stop_sequence" | "completed" | "STOP" | "STOP_SEQUENCE"
        | "COMPLETE" | "eos" | "eos_token" => FinishReason::Stop,
        "length"
        | "max_tokens"
        | "MAX_TOKENS"
        | "max_output_tokens"
        | "incomplete"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "refusal" => FinishReason::Refusal,
        "pause_turn" => FinishReason::Paused,
        "content_filter"
        | "guardrail_intervened"
        | "content_filtered"
        | "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "LANGUAGE"
        | "ERROR_TOXIC" => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason),
    }
}

/// The provider's name for a reason, and its words about it.
pub(super) fn named_reason(name: Option<String>, words: Option<String>) -> Option<String> {
    let [name, words] = [name, words].map(|text| text.filter(|text| !text.is_empty()));
    match (name, words) {
        (Some(name), Some(words)) => Some(format!("{name}: {words}")),
        (name, words) => name.or(words),
    }
}

/// Adds the sources that the provider cites for a text to the response's `meta`.
pub(super) fn add_citations(new: Option<&Value>, data: &mut ResponseData) {
    add_to_meta("citations", new, data);
}

/// Adds the items of a list to a list of this name in the response's `meta`.
pub(super) fn add_to_meta(name: &str, new: Option<&Value>, data: &mut ResponseData) {
    let Some(Value::Array(new)) = new else { return };
    if new.is_empty() {
        return;
    }
    let all = data
        .meta
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(all) = all {
        all.extend(new.iter().cloned());
    }
}

pub(super) fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path)?.as_str().map(str::to_string)
}

/// Reasoning with a signature and without visible text.
pub(super) fn hidden_reasoning(signature: String) -> Delta {
    Delta::Part(Part::Thought(Text {
        signature: Some(signature),
        ..Text::default()
    }))
}

/// The prefix of the signature of redacted reasoning, which Anthropic hides and requires back.
pub(crate) const REDACTED: &str = "redacted:";

/// A redacted reasoning part.
pub(crate) fn redacted(block: &Value) -> Option<Part> {
    let is_redacted = block.get("type")? == "redacted_thinking";
    let data = block.get("data")?.as_str().filter(|_| is_redacted)?;
    Some(Part::Thought(Text {
        signature: Some(format!("{REDACTED}{data}")),
        ..Text::default()
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
