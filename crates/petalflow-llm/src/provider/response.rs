//! Conversion of responses from the types of the `genai` library.

use genai::chat::{self, BinarySource, ChatResponse, ContentPart, Usage};
use genai::{Error, webc};
use serde_json::Value;

use super::wire::{redacted, with_stop_reason};
use crate::{ChatMessage, LlmResponse, Media, MediaSource, Part, Prices, Role, Text, TokenUsage};
use petalflow::tool::ToolCall;

/// Converts a complete response of the library, for formats that are unknown here.
pub(super) fn from_genai(response: ChatResponse) -> LlmResponse {
    let parts = parts(response.content.into_parts(), response.reasoning_content);
    LlmResponse {
        message: (!parts.is_empty()).then(|| ChatMessage::new(Role::Assistant, parts)),
        id: response.response_id.unwrap_or_default(),
        model: response.provider_model_iden.model_name.to_string(),
        usage: token_usage(&response.usage),
        ..with_stop_reason(response.stop_reason)
    }
}

/// Sets the provider, the model and the cost of a response.
pub(super) fn complete(
    mut response: LlmResponse,
    name: &str,
    model: &str,
    prices: &Prices,
) -> LlmResponse {
    response.provider = name.to_string();
    if response.model.is_empty() {
        response.model = model.to_string();
    }
    let price = prices.get(&response.model).or_else(|| prices.get(model));
    response.usage.cost = price.map_or(0.0, |price| price.cost(&response.usage));
    response
}

/// The body of a response that the library rejected: calls without an id, arguments that are not JSON, or JSON without
/// its content type.
pub(super) fn body(error: &Error) -> Option<Value> {
    match error {
        Error::ChatResponseGeneration { response_body, .. } => Some((**response_body).clone()),
        Error::WebModelCall {
            webc_error: webc::Error::ResponseFailedNotJson { body, .. },
            ..
        } => serde_json::from_str(body).ok(),
        _ => None,
    }
}

/// A call's id. If the provider sends none, the library generates the same one for several calls. It is removed here.
pub(super) fn call_id(id: String) -> String {
    if id.starts_with("call#") {
        String::new()
    } else {
        id
    }
}

/// The signature in a call.
pub(super) fn signature(call: &chat::ToolCall) -> Option<&String> {
    call.thought_signatures.as_ref()?.first()
}

/// The parts of a response. A signature comes directly before the part that it signs.
fn parts(content: Vec<ContentPart>, reasoning: Option<String>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(content.len() + 1);
    let inline = content
        .iter()
        .any(|part| matches!(part, ContentPart::ReasoningContent(_)));
    let reasoning = reasoning.filter(|reasoning| !inline && !reasoning.is_empty());
    parts.extend(reasoning.map(|reasoning| Part::Thought(reasoning.into())));
    let mut pending: Option<String> = None;
    for part in content {
        match part {
            ContentPart::ThoughtSignature(signature) => {
                parts.extend(pending.replace(signature).map(signature_part));
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
                // A call's own signature also comes before the call.
                let before = pending.take();
                let own = signature(&call).cloned();
                if own.is_some() && before != own {
                    parts.extend(before.clone().map(signature_part));
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
            // A response contains no tool results.
            ContentPart::ToolResponse(_) => {}
        }
    }
    parts.extend(pending.map(signature_part));
    parts
}

/// A signature without a part.
fn signature_part(signature: String) -> Part {
    Part::Text(Text {
        text: String::new(),
        signature: Some(signature),
    })
}

pub(super) fn token_usage(usage: &Usage) -> TokenUsage {
    // A negative count is invalid. A missing count is 0.
    let count = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok());
    let input = count(usage.prompt_tokens).unwrap_or(0);
    let response = usage.completion_tokens_details.as_ref();
    let reasoning = response.and_then(|details| count(details.reasoning_tokens));
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
