//! The conversation in Gemini's format. The `genai` library writes tool results as text within text, and omits code.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::call_format::arguments_object;
use super::wire::REDACTED;
use crate::{ChatMessage, LlmRequest, Media, MediaSource, Part, Role, Text};
use petalflow::tool::{ToolCall, ToolResult};

/// The placeholder that third-generation models accept for a missing signature.
const MISSING_SIGNATURE: &str = "skip_thought_signature_validator";

/// The conversation without system messages.
pub(super) fn contents(model: &str, request: &LlmRequest) -> Value {
    let mut names = HashMap::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in request.messages.iter() {
        let calls = message.calls().filter(|call| !call.id.is_empty());
        names.extend(calls.map(|call| (call.id.as_str(), call.name.as_str())));
        let (role, parts) = match message.role {
            Role::System => continue,
            Role::Assistant => ("model", model_parts(message, model.contains("gemini-3"))),
            Role::User | Role::Tool => {
                let parts = message.parts.iter();
                (
                    "user",
                    parts.filter_map(|part| user_part(part, &names)).collect(),
                )
            }
        };
        // All results of a turn are in one message.
        match turns.last_mut() {
            Some((_, last)) if all_results(last) && all_results(&parts) => last.extend(parts),
            _ if parts.is_empty() => {}
            _ => turns.push((role, parts)),
        }
    }
    let input = request.input_text.iter();
    turns.extend(input.map(|text| ("user", vec![json!({ "text": text })])));
    turns
        .into_iter()
        .map(|(role, parts)| json!({ "role": role, "parts": parts }))
        .collect()
}

fn all_results(parts: &[Value]) -> bool {
    let mut parts = parts.iter();
    parts.len() > 0 && parts.all(|part| part.get("functionResponse").is_some())
}

/// The parts of a message from the model. Reasoning is not sent back.
fn model_parts(message: &ChatMessage, wants_signatures: bool) -> Vec<Value> {
    let mut first_call = true;
    let mut parts = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        let (mut value, signature) = match part {
            Part::Text(Text { text, signature }) => (json!({ "text": text }), signature.clone()),
            Part::Call(call) => {
                let placeholder =
                    (wants_signatures && first_call).then(|| MISSING_SIGNATURE.to_string());
                first_call = false;
                (function_call(call), call.signature.clone().or(placeholder))
            }
            Part::Media(media) => (self::media(media), None),
            Part::Code { language, code } => (
                json!({ "executableCode": { "language": language, "code": code } }),
                None,
            ),
            Part::CodeResult { outcome, output } => (
                json!({ "codeExecutionResult": { "outcome": outcome, "output": output } }),
                None,
            ),
            Part::Thought(_) | Part::Result(_) => continue,
        };
        if let Some(signature) = signature.filter(|signature| !signature.starts_with(REDACTED)) {
            value["thoughtSignature"] = signature.into();
        }
        parts.push(value);
    }
    parts
}

/// A part of a message to the model.
fn user_part(part: &Part, names: &HashMap<&str, &str>) -> Option<Value> {
    match part {
        Part::Text(Text { text, .. }) => Some(json!({ "text": text })),
        Part::Media(media) => Some(self::media(media)),
        Part::Result(result) => Some(function_response(result, names)),
        Part::Code { language, code } => {
            Some(json!({ "text": format!("```{language}\n{code}\n```") }))
        }
        Part::CodeResult { outcome, output } => {
            Some(json!({ "text": format!("```{outcome}\n{output}\n```") }))
        }
        Part::Thought(_) | Part::Call(_) => None,
    }
}

fn function_call(call: &ToolCall) -> Value {
    let mut value = json!({ "name": call.name, "args": arguments_object(&call.arguments) });
    if !call.id.is_empty() {
        value["id"] = call.id.as_str().into();
    }
    json!({ "functionCall": value })
}

/// A tool result. It must have the name of its call, and may have an id only if the call has one.
fn function_response(result: &ToolResult, names: &HashMap<&str, &str>) -> Value {
    let call_name = names.get(result.call_id.as_str());
    let name = match call_name {
        _ if !result.name.is_empty() => result.name.as_str(),
        Some(name) => name,
        None => result.call_id.as_str(),
    };
    let response = match (&result.content, result.is_error) {
        (Value::Object(object), false) => object.clone(),
        (Value::Object(object), true) if object.contains_key("error") => object.clone(),
        (content, true) => Map::from_iter([("error".to_string(), content.clone())]),
        (content, false) => Map::from_iter([("result".to_string(), content.clone())]),
    };
    let mut value = json!({ "name": name, "response": response });
    if call_name.is_some() {
        value["id"] = result.call_id.as_str().into();
    }
    json!({ "functionResponse": value })
}

fn media(media: &Media) -> Value {
    let Media { media_type, source } = media;
    match source {
        MediaSource::Url(url) => {
            json!({ "fileData": { "mimeType": media_type, "fileUri": url } })
        }
        MediaSource::Base64(data) => {
            json!({ "inlineData": { "mimeType": media_type, "data": data } })
        }
    }
}
