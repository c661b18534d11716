//! Answers in the words of the library underneath, and ours.

use genai::Error;
use genai::chat::{self, BinarySource, ChatResponse, ContentPart, StopReason, Usage};
use serde_json::Value;

use super::super::{
    Aggregate, ChatMessage, FinishReason, LlmResponse, Media, MediaSource, Part, Prices, Role,
    Status, Text, TokenUsage,
};
use super::gemini;
use crate::tool::ToolCall;

/// A whole answer.
pub(super) fn of(answer: ChatResponse) -> LlmResponse {
    let body = answer.captured_raw_body.as_ref();
    let id = body.map(id_of).unwrap_or_default();
    let parts = body
        .and_then(geminis)
        .unwrap_or_else(|| parts(answer.content.into_parts(), answer.reasoning_content));
    LlmResponse {
        message: (!parts.is_empty()).then(|| ChatMessage::new(Role::Assistant, parts)),
        id: answer.response_id.or(id).unwrap_or_default(),
        model: answer.provider_model_iden.model_name.to_string(),
        ..ended(answer.stop_reason, &answer.usage)
    }
}

/// The parts of Gemini's answer.
fn geminis(body: &Value) -> Option<Vec<Part>> {
    let mut answer = Aggregate::new();
    let deltas = gemini::Chunks::default().read(body)?;
    deltas.iter().for_each(|delta| answer.push(delta));
    let message = answer.finish(LlmResponse::default()).message;
    Some(message.map(|message| message.parts).unwrap_or_default())
}

/// How an answer ended, and what it took.
pub(super) fn ended(reason: Option<StopReason>, usage: &Usage) -> LlmResponse {
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
        usage: used(usage),
        ..LlmResponse::default()
    }
}

/// The answer with who gave it, and what it cost.
pub(super) fn named(
    mut response: LlmResponse,
    name: &str,
    asked: &str,
    prices: &Prices,
) -> LlmResponse {
    response.provider = name.to_string();
    if response.model.is_empty() {
        response.model = asked.to_string();
    }
    let price = prices.of(&response.model).or_else(|| prices.of(asked));
    response.usage.cost = price.map_or(0.0, |price| price.of(&response.usage));
    response
}

/// An answer that the library refuses because of a call whose arguments are not JSON: our callers want to tell the model so.
pub(super) fn rescued(error: &Error) -> Option<LlmResponse> {
    let Error::ChatResponseGeneration { response_body, .. } = error else {
        return None;
    };
    let choice = response_body.pointer("/choices/0")?;
    let calls = choice.pointer("/message/tool_calls")?.as_array()?;
    let text_at = |value: &Value, path| value.pointer(path)?.as_str().map(str::to_string);
    let mut parts = Vec::with_capacity(calls.len() + 1);
    parts.extend(text_at(choice, "/message/content").map(Part::text));
    for call in calls {
        let arguments = call.pointer("/function/arguments").unwrap_or(&Value::Null);
        parts.push(Part::Call(ToolCall {
            id: text_at(call, "/id").unwrap_or_default(),
            name: text_at(call, "/function/name")?,
            arguments: match arguments {
                Value::String(text) => {
                    serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
                }
                other => other.clone(),
            },
            signature: None,
        }));
    }
    let usage = response_body.get("usage").cloned();
    let usage = usage.and_then(|usage| serde_json::from_value(usage).ok());
    Some(LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, parts)),
        id: id_of(response_body).unwrap_or_default(),
        model: text_at(response_body, "/model").unwrap_or_default(),
        ..ended(
            text_at(choice, "/finish_reason").map(StopReason::from),
            &usage.unwrap_or_default(),
        )
    })
}

/// The provider's name for an answer.
pub(super) fn id_of(body: &Value) -> Option<String> {
    ["/id", "/responseId", "/message/id", "/response/id"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str())
        .map(str::to_string)
}

/// The model that answered.
pub(super) fn model_of(body: &Value) -> Option<String> {
    [
        "/model",
        "/modelVersion",
        "/message/model",
        "/response/model",
    ]
    .iter()
    .find_map(|path| body.pointer(path)?.as_str())
    .map(str::to_string)
}

/// A call's id. The library makes one up where the provider gives none, the same for several calls: those have none here.
pub(super) fn call_id(id: String) -> String {
    if id.starts_with("call#") {
        String::new()
    } else {
        id
    }
}

/// The signature that a call brings.
pub(super) fn signature(call: &chat::ToolCall) -> Option<&String> {
    call.thought_signatures.as_ref()?.first()
}

/// The parts of an answer. A signature comes just before what it signs.
fn parts(content: Vec<ContentPart>, thoughts: Option<String>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(content.len() + 1);
    let inline = content
        .iter()
        .any(|part| matches!(part, ContentPart::ReasoningContent(_)));
    let thoughts = thoughts.filter(|thoughts| !inline && !thoughts.is_empty());
    parts.extend(thoughts.map(|thoughts| Part::Thought(thoughts.into())));
    let mut pending: Option<String> = None;
    for part in content {
        match part {
            ContentPart::ThoughtSignature(signature) => {
                parts.extend(pending.replace(signature).map(alone));
            }
            ContentPart::ReasoningContent(text) => parts.push(Part::Thought(Text {
                text,
                signature: pending.take(),
            })),
            ContentPart::Text(text) => parts.push(Part::Text(Text {
                text,
                signature: pending.take(),
            })),
            ContentPart::ToolCall(call) => {
                // A call's own signature comes before it as well.
                let before = pending.take();
                let own = signature(&call).cloned();
                if own.is_some() && before != own {
                    parts.extend(before.clone().map(alone));
                }
                parts.push(Part::Call(ToolCall {
                    id: call_id(call.call_id),
                    name: call.fn_name,
                    arguments: call.fn_arguments,
                    signature: own.or(before),
                }));
            }
            ContentPart::Binary(binary) => parts.push(Part::Media(Media {
                media_type: binary.content_type,
                source: match binary.source {
                    BinarySource::Url(url) => MediaSource::Url(url),
                    BinarySource::Base64(data) => MediaSource::Base64(data.to_string()),
                },
            })),
            // What only this provider understands, and what no answer has.
            ContentPart::Custom(_) | ContentPart::ToolResponse(_) => {}
        }
    }
    parts.extend(pending.map(alone));
    parts
}

/// A signature of nothing.
fn alone(signature: String) -> Part {
    Part::Text(Text {
        text: String::new(),
        signature: Some(signature),
    })
}

fn used(usage: &Usage) -> TokenUsage {
    // A count below 0 is nonsense, and none is 0.
    let count = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok());
    let input = count(usage.prompt_tokens).unwrap_or(0);
    let answer = usage.completion_tokens_details.as_ref();
    let reasoning = answer.and_then(|details| count(details.reasoning_tokens));
    let output = count(usage.completion_tokens).or(reasoning).unwrap_or(0);
    let question = usage.prompt_tokens_details.as_ref();
    let cached = question.and_then(|details| count(details.cached_tokens));
    TokenUsage {
        input,
        output,
        total: count(usage.total_tokens).unwrap_or(input + output),
        cached: cached.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
        cost: 0.0,
    }
}
