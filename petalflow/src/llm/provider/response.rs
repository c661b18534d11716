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

/// A whole answer; what was sent, if there is none in it.
pub(super) fn of(answer: ChatResponse) -> Result<LlmResponse, Option<Value>> {
    let body = answer.captured_raw_body.as_ref();
    let id = body.map(id_of).unwrap_or_default();
    let meta = body.map(gemini::beside).unwrap_or_default();
    let parts = body
        .and_then(geminis)
        .unwrap_or_else(|| parts(answer.content.into_parts(), answer.reasoning_content));
    // Whoever has nothing to say at least says that it ended, or what it took.
    if parts.is_empty() && answer.stop_reason.is_none() && answer.usage == Usage::default() {
        return Err(answer.captured_raw_body);
    }
    Ok(LlmResponse {
        message: (!parts.is_empty()).then(|| ChatMessage::new(Role::Assistant, parts)),
        id: answer.response_id.or(id).unwrap_or_default(),
        model: answer.provider_model_iden.model_name.to_string(),
        meta,
        ..ended(answer.stop_reason, &answer.usage)
    })
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

/// An answer that the library refuses, but our callers want: calls whose arguments are not JSON, so that the model can be told, and
/// Gemini's word that it does not answer such questions.
pub(super) fn rescued(error: &Error) -> Option<LlmResponse> {
    let Error::ChatResponseGeneration { response_body, .. } = error else {
        return None;
    };
    let body = &**response_body;
    blocked(body).or_else(|| {
        let parts = chat_parts(body).or_else(|| output_parts(body))?;
        let usage = body.get("usage").cloned();
        let usage = usage.and_then(|usage| serde_json::from_value(usage).ok());
        let reason = text(body, "/choices/0/finish_reason").or_else(|| text(body, "/status"));
        Some(LlmResponse {
            message: Some(ChatMessage::new(Role::Assistant, parts)),
            id: id_of(body).unwrap_or_default(),
            model: model_of(body).unwrap_or_default(),
            ..ended(reason.map(StopReason::from), &usage.unwrap_or_default())
        })
    })
}

/// That Gemini does not answer such questions; why stands in `meta`.
pub(super) fn blocked(body: &Value) -> Option<LlmResponse> {
    let reason = text(body, "/promptFeedback/blockReason")?;
    let mut response = ended(
        Some(StopReason::ContentFilter(reason.clone())),
        &Usage::default(),
    );
    response
        .meta
        .insert("block_reason".to_string(), reason.into());
    Some(response)
}

/// The parts of an answer in OpenAI's usual form, as far as there are calls in it.
fn chat_parts(body: &Value) -> Option<Vec<Part>> {
    let message = body.pointer("/choices/0/message")?;
    let calls = message.get("tool_calls")?.as_array()?;
    let words = text(message, "/content").map(Part::text);
    let calls = calls.iter().map(|call| {
        let function = call.get("function")?;
        called(text(call, "/id"), function)
    });
    words.into_iter().map(Some).chain(calls).collect()
}

/// The parts of an answer of OpenAI's newer kind.
fn output_parts(body: &Value) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for item in body.get("output")?.as_array()? {
        match item.get("type")?.as_str()? {
            "message" => {
                let content = item.get("content").and_then(Value::as_array);
                let words = content.into_iter().flatten();
                parts.extend(
                    words
                        .filter_map(|piece| text(piece, "/text"))
                        .map(Part::text),
                );
            }
            "function_call" => parts.push(called(text(item, "/call_id"), item)?),
            _ => {}
        }
    }
    Some(parts)
}

/// A call, with its arguments as they were written if they are not JSON.
fn called(id: Option<String>, function: &Value) -> Option<Part> {
    let arguments = function.get("arguments").cloned().unwrap_or_default();
    Some(Part::Call(ToolCall {
        id: id.unwrap_or_default(),
        name: text(function, "/name")?,
        arguments: match arguments {
            Value::String(written) => {
                serde_json::from_str(&written).unwrap_or(Value::String(written))
            }
            other => other,
        },
        signature: None,
    }))
}

fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path)?.as_str().map(str::to_string)
}

/// The provider's name for an answer.
pub(super) fn id_of(body: &Value) -> Option<String> {
    let paths = ["/id", "/responseId", "/message/id", "/response/id"];
    paths.iter().find_map(|path| text(body, path))
}

/// The model that answered.
pub(super) fn model_of(body: &Value) -> Option<String> {
    let paths = [
        "/model",
        "/modelVersion",
        "/message/model",
        "/response/model",
    ];
    paths.iter().find_map(|path| text(body, path))
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
            ContentPart::Custom(part) => parts.extend(redacted(&part.data)),
            // No answer has one.
            ContentPart::ToolResponse(_) => {}
        }
    }
    parts.extend(pending.map(alone));
    parts
}

/// How the signature of a thought begins that Anthropic shows to nobody, but wants back.
pub(super) const REDACTED: &str = "redacted:";

/// A thought that nobody may read.
pub(super) fn redacted(block: &Value) -> Option<Part> {
    let hidden = block.get("type")? == "redacted_thinking";
    let data = text(block, "/data").filter(|_| hidden)?;
    Some(Part::Thought(Text {
        text: String::new(),
        signature: Some(format!("{REDACTED}{data}")),
    }))
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
