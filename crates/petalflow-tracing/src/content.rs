//! Message content in the JSON format of the OpenTelemetry conventions.

use serde_json::{Value, json};

use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse, Part, Role};

/// The system instructions: `gen_ai.system_instructions`.
pub(super) fn instructions(request: &LlmRequest) -> Option<String> {
    let parts: Vec<Value> = [&request.system, &request.instructions]
        .into_iter()
        .flatten()
        .map(|text| self::text(text))
        .collect();
    (!parts.is_empty()).then(|| Value::from(parts).to_string())
}

/// The conversation: `gen_ai.input.messages`.
pub(super) fn input(request: &LlmRequest) -> String {
    let history = request.messages.iter().map(message);
    let input = request
        .input_text
        .iter()
        .map(|input| json!({ "role": Role::User.as_str(), "parts": [text(input)] }));
    history.chain(input).collect::<Value>().to_string()
}

/// The answer: `gen_ai.output.messages`.
pub(super) fn output(response: &LlmResponse) -> String {
    let mut messages: Vec<Value> = response.message.iter().map(message).collect();
    for message in &mut messages {
        if let Some(finish) = &response.finish {
            message["finish_reason"] = finish_reason(finish).into();
        }
    }
    Value::from(messages).to_string()
}

/// The tools that the model may call: `gen_ai.tool.definitions`.
pub(super) fn tools(request: &LlmRequest) -> Option<String> {
    let tools = request.tools.iter().map(|spec| {
        json!({
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        })
    });
    (!request.tools.is_empty()).then(|| tools.collect::<Value>().to_string())
}

/// The reason why an answer ended. It uses the name in the conventions if there is one.
pub(super) fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::ContentFilter | FinishReason::Refusal | FinishReason::Blocked => {
            "content_filter"
        }
        FinishReason::Paused => "pause",
        FinishReason::Other(reason) => reason,
        _ => "other",
    }
}

fn message(message: &ChatMessage) -> Value {
    let parts: Vec<Value> = message.parts.iter().map(part).collect();
    let mut value = json!({ "role": message.role.as_str(), "parts": parts });
    if let Some(name) = &message.name {
        value["name"] = name.as_str().into();
    }
    value
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(part) => text(&part.text),
        Part::Thought(part) => json!({ "type": "reasoning", "content": part.text }),
        Part::Call(call) => json!({
            "type": "tool_call",
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }),
        Part::Result(result) => json!({
            "type": "tool_call_response",
            "id": result.call_id,
            "response": result.content,
        }),
        Part::Media(media) => self::media(media),
        Part::Code { language, code, .. } => {
            json!({ "type": "code", "language": language, "content": code })
        }
        Part::CodeResult {
            outcome, output, ..
        } => {
            json!({ "type": "code_result", "outcome": outcome, "content": output })
        }
        Part::Citation(citation) => {
            json!({ "type": "citation", "title": citation.source.title(), "uri": citation.source.url() })
        }
        Part::Provider { provider, value } => {
            json!({ "type": "provider", "provider": provider, "kind": value["type"] })
        }
        _ => json!({ "type": "other" }),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

/// Describes media. The bytes are left out: they are too large for spans.
fn media(media: &Media) -> Value {
    let kind = media.media_type.as_str();
    let modality = kind.split('/').next().unwrap_or_default();
    match &media.source {
        MediaSource::Url(uri) => {
            json!({ "type": "uri", "mime_type": kind, "modality": modality, "uri": uri })
        }
        MediaSource::Base64(_) => {
            json!({ "type": "blob", "mime_type": kind, "modality": modality })
        }
        _ => json!({ "type": "other", "mime_type": kind, "modality": modality }),
    }
}
