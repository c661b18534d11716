//! Gemini's `generateContent`: turns of parts, whose order and signatures matter.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::citations::CitedText;
use super::content::{
    Dialogue, Turn, arguments_object, call_name, decimal, effort_level, effort_tokens,
    split_result, with_extra,
};
use super::gemini_calls::{CallReader, OpenCall};
use super::gemini_computer;
use super::gemini_parts::{call_left_over, complete_part, source_metadata, text, text_left_over};
use super::native;
use super::origins;
use super::response_data::{REDACTED, ResponseData, named_reason};
use super::schemas::Schemas;
use super::usage;
use crate::message::call_id::is_generated;
use crate::message::{Media, MediaSource, Text};
use crate::provider::catalog::Target;
use crate::request::{Effort, ToolChoice};
use crate::stream::Delta;
use crate::{ChatMessage, LlmRequest, Part, Role};
use petalflow::tool::{ToolCall, ToolResult};

/// The placeholder that third-generation models accept for a missing signature.
const MISSING_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body of a request. The model's name is in the address. Schemas are enforced without `strict`.
pub(super) fn body(target: &Target<'_>, request: &LlmRequest, schemas: Schemas) -> Value {
    let Dialogue { system, turns } = Dialogue::of(request);
    let mut body = json!({ "contents": contents(target, request, turns) });
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": system.join("\n") }] });
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().zip(schemas.tools).map(|(tool, sent)| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": sent.schema,
            })
        });
        body["tools"] = json!([{ "functionDeclarations": tools.collect::<Value>() }]);
        let config = match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(json!({ "mode": "NONE" })),
            ToolChoice::Required => Some(json!({ "mode": "ANY" })),
            ToolChoice::Tool(name) => {
                Some(json!({ "mode": "ANY", "allowedFunctionNames": [name] }))
            }
        };
        if let Some(config) = config {
            body["toolConfig"] = json!({ "functionCallingConfig": config });
        }
    }
    native::add_to_gemini(&mut body, target, request);
    let answer = schemas.answer.map(|sent| sent.schema);
    let generation = generation(target, request, answer);
    if !generation.is_empty() {
        body["generationConfig"] = generation.into();
    }
    with_extra(body, request)
}

fn generation(
    target: &Target<'_>,
    request: &LlmRequest,
    schema: Option<Value>,
) -> Map<String, Value> {
    let mut config = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        config.extend(value.map(|value| (name.to_string(), value)));
    };
    set(
        "temperature",
        request.temperature.map(|value| decimal(value).into()),
    );
    set("topP", request.top_p.map(|value| decimal(value).into()));
    set("maxOutputTokens", request.max_tokens.map(Into::into));
    set("seed", request.seed.map(Into::into));
    set(
        "stopSequences",
        (!request.stop.is_empty()).then(|| request.stop.clone().into()),
    );
    let has_schema = schema.is_some();
    set(
        "responseMimeType",
        has_schema.then(|| "application/json".into()),
    );
    set("responseJsonSchema", schema);
    set(
        "thinkingConfig",
        request.effort.map(|effort| thinking(target, effort)),
    );
    if let Some(image) = native::image_config(request) {
        config.insert("responseModalities".into(), json!(["TEXT", "IMAGE"]));
        if image.as_object().is_some_and(|image| !image.is_empty()) {
            config.insert("imageConfig".into(), image);
        }
    }
    config
}

/// The options for reasoning, which is returned only on request.
fn thinking(target: &Target<'_>, effort: Effort) -> Value {
    let has_levels = !target.capabilities.efforts.is_empty();
    match effort {
        // The larger models always reason: this is their minimum.
        Effort::None if target.model.contains("-pro") => json!({ "thinkingBudget": 128 }),
        Effort::None => json!({ "thinkingBudget": 0 }),
        Effort::Minimal | Effort::Low | Effort::Medium | Effort::High | Effort::XHigh
            if has_levels =>
        {
            json!({ "thinkingLevel": effort_level(effort).to_uppercase(), "includeThoughts": true })
        }
        effort => json!({ "thinkingBudget": effort_tokens(effort), "includeThoughts": true }),
    }
}

/// The conversation without the system messages at its start.
fn contents<'m>(target: &Target<'_>, request: &'m LlmRequest, dialogue: Vec<Turn<'m>>) -> Value {
    let model = target.model;
    let mut calls_by_id: HashMap<&str, &ToolCall> = HashMap::new();
    let mut address = String::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in dialogue {
        let message = match turn {
            Turn::Message(message) => message,
            Turn::Instruction(text) => {
                turns.push(("user", vec![json!({ "text": text })]));
                continue;
            }
        };
        // A call without an id is looked up only if its result needs the call.
        let is_known = |call: &&ToolCall| {
            !call.id.is_empty() || gemini_computer::function_calls(call).is_some()
        };
        let calls = message.calls().filter(is_known);
        calls_by_id.extend(calls.map(|call| (call.id.as_str(), call)));
        let (role, parts) = match message.role {
            Role::Assistant => (
                "model",
                model_parts(target, message, model.contains("gemini-3")),
            ),
            Role::System | Role::User | Role::Tool => {
                let parts = message.parts.iter();
                (
                    "user",
                    parts
                        .flat_map(|part| user_parts(target, part, &calls_by_id, &mut address))
                        .collect(),
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
    let is_result = |part: &Value| part.get("functionResponse").is_some();
    let is_media = |part: &Value| part.get("inlineData").is_some();
    parts.iter().any(is_result) && parts.iter().all(|part| is_result(part) || is_media(part))
}

/// The parts of a message from the model. Reasoning is sent back only if it is signed.
fn model_parts(target: &Target<'_>, message: &ChatMessage, wants_signatures: bool) -> Vec<Value> {
    let mut first_call = true;
    let mut parts = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        let own = |signature: &Option<String>| {
            let signature = target.signature(signature.as_deref(), part.origin())?;
            (!signature.starts_with(REDACTED)).then(|| signature.to_string())
        };
        let mut after = Vec::new();
        let (mut value, signature) = match part {
            Part::Text(text) => {
                let signature = own(&text.signature);
                // Such a part only has the signature.
                if text.text.is_empty() && signature.is_none() && text.signature.is_some() {
                    continue;
                }
                (json!({ "text": text.text }), signature)
            }
            Part::Thought(thought) => match own(&thought.signature) {
                Some(signature) if thought.origin.is_some() => (
                    json!({ "text": thought.text, "thought": true }),
                    Some(signature),
                ),
                _ => continue,
            },
            Part::Call(call) => {
                let placeholder =
                    (wants_signatures && first_call).then(|| MISSING_SIGNATURE.to_string());
                first_call = false;
                let signature = own(&call.signature).or(placeholder);
                match gemini_computer::function_calls(call) {
                    None => (function_call(call), signature),
                    Some(calls) => {
                        let mut functions = gemini_computer::call_parts(calls, sent_id(&call.id));
                        // The first one has what the provider needs back. There is one at least.
                        let first = functions.remove(0);
                        after = functions;
                        (first, signature)
                    }
                }
            }
            Part::Media(media) => (self::media(media), None),
            Part::Code { language, code, .. } => (
                json!({ "executableCode": { "language": language, "code": code } }),
                None,
            ),
            Part::CodeResult {
                outcome, output, ..
            } => (
                json!({ "codeExecutionResult": { "outcome": outcome, "output": output } }),
                None,
            ),
            Part::Provider { .. } => match target.opaque(part) {
                Some(value) if value.get(native::GROUNDING).is_none() => (value.clone(), None),
                _ => continue,
            },
            Part::Result(_) | Part::Citation(_) => continue,
        };
        if let Some(signature) = signature {
            value["thoughtSignature"] = signature.into();
        }
        target.add_fields(&mut value, part.origin());
        parts.push(value);
        parts.append(&mut after);
    }
    parts
}

/// A part of a message to the model. The media of a result follow the result. `address` is the page that the last screenshot of a
/// browser shows.
fn user_parts(
    target: &Target<'_>,
    part: &Part,
    calls: &HashMap<&str, &ToolCall>,
    address: &mut String,
) -> Vec<Value> {
    match part {
        Part::Text(Text { text, .. }) => vec![json!({ "text": text })],
        Part::Media(media) => vec![self::media(media)],
        Part::Result(result) => {
            let call = calls.get(result.call_id.as_str()).copied();
            let is_own = |call: &&ToolCall| result.name.is_empty() || result.name == call.name;
            let functions = call
                .filter(is_own)
                .and_then(gemini_computer::function_calls);
            if let Some(functions) = functions {
                let (id, takes) = (sent_id(&result.call_id), |media: &Media| {
                    target.takes(media)
                });
                return gemini_computer::result_parts(functions, result, id, takes, media, address);
            }
            let sent = split_result(result, |media| target.takes(media));
            let mut parts = vec![function_response(result, &sent.content, call)];
            parts.extend(sent.media.iter().map(media));
            parts
        }
        Part::Code { language, code, .. } => {
            vec![json!({ "text": format!("```{language}\n{code}\n```") })]
        }
        Part::CodeResult {
            outcome, output, ..
        } => {
            vec![json!({ "text": format!("```{outcome}\n{output}\n```") })]
        }
        Part::Provider { .. } => target.opaque(part).cloned().into_iter().collect(),
        Part::Thought(_) | Part::Call(_) | Part::Citation(_) => Vec::new(),
    }
}

fn function_call(call: &ToolCall) -> Value {
    let mut value =
        json!({ "name": call_name(&call.name), "args": arguments_object(&call.arguments) });
    if let Some(id) = sent_id(&call.id) {
        value["id"] = id.into();
    }
    json!({ "functionCall": value })
}

/// The id of a call, if the model gave it one.
fn sent_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !is_generated(id)).then_some(id)
}

/// A tool result. It must have the name of its call, and may have an id only if the model gave the call one.
fn function_response(result: &ToolResult, content: &Value, called: Option<&ToolCall>) -> Value {
    let name = match called {
        _ if !result.name.is_empty() => result.name.as_str(),
        Some(call) => call_name(&call.name),
        None => result.call_id.as_str(),
    };
    let response = match (content, result.is_error) {
        (Value::Object(object), false) => object.clone(),
        (Value::Object(object), true) if object.contains_key("error") => object.clone(),
        (content, true) => Map::from_iter([("error".to_string(), content.clone())]),
        (content, false) => Map::from_iter([("result".to_string(), content.clone())]),
    };
    let mut value = json!({ "name": name, "response": response });
    if called.is_some()
        && let Some(id) = sent_id(&result.call_id)
    {
        value["id"] = id.into();
    }
    json!({ "functionResponse": value })
}

fn media(media: &Media) -> Value {
    let Media {
        media_type, source, ..
    } = media;
    match source {
        MediaSource::Url(url) => {
            json!({ "fileData": { "mimeType": media_type, "fileUri": url } })
        }
        MediaSource::Base64(data) => {
            json!({ "inlineData": { "mimeType": media_type, "data": data } })
        }
    }
}
/// Reads the chunks of a response.
#[derive(Debug, Default)]
pub(super) struct GeminiParser {
    calls: CallReader,
    /// The text whose sources come at the end.
    cited: CitedText,
}

impl GeminiParser {
    /// Reads the response to a request with this body.
    pub(super) fn of(body: &Value) -> Self {
        GeminiParser {
            calls: CallReader::of(body),
            ..Self::default()
        }
    }

    pub(super) fn read(&mut self, chunk: &Value, data: &mut ResponseData) -> Vec<Delta> {
        data.id = data.id.take().or_else(|| text(chunk, "responseId"));
        data.model = data.model.take().or_else(|| text(chunk, "modelVersion"));
        if let Some(usage) = chunk.get("usageMetadata").filter(|usage| usage.is_object()) {
            data.usage = usage::gemini(usage);
        }
        let feedback = chunk.get("promptFeedback");
        let blocked = feedback.and_then(|feedback| {
            let reason = text(feedback, "blockReason")?;
            named_reason(Some(reason), text(feedback, "blockReasonMessage"))
        });
        data.blocked = data.blocked.take().or(blocked);
        let Some(candidate) = chunk.pointer("/candidates/0") else {
            return Vec::new();
        };
        data.finish = text(candidate, "finishReason").or_else(|| data.finish.take());
        data.finish_message =
            text(candidate, "finishMessage").or_else(|| data.finish_message.take());
        data.meta.extend(source_metadata(candidate));
        let parts = candidate
            .pointer("/content/parts")
            .and_then(Value::as_array);
        let mut deltas = Vec::new();
        for part in parts.into_iter().flatten() {
            let signature = text(part, "thoughtSignature");
            // An empty part has a signature of its own, which must be sent back in such a part.
            if signature.is_some() && text(part, "text").is_some_and(|text| text.is_empty()) {
                let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
                let whole = part;
                let part = Text {
                    signature,
                    ..Text::default()
                };
                deltas.push(Delta::Part(if thought {
                    Part::Thought(part)
                } else {
                    Part::Text(part)
                }));
                deltas.extend(origins::needed_back(None, text_left_over(whole)));
                continue;
            }
            if let Some(call) = part.get("functionCall") {
                let OpenCall { index, action } = self.calls.read(call, &mut deltas);
                // What the provider needs back with actions is that of the first one.
                if action.is_none_or(|number| number == 0) {
                    deltas.extend(signature.map(Delta::Signature));
                    deltas.extend(origins::needed_back(Some(index), call_left_over(part)));
                }
                continue;
            }
            let has_text = text(part, "text").is_none_or(|text| !text.is_empty());
            if Self::part(part, &mut deltas) {
                deltas.extend(signature.map(Delta::Signature));
                let rest = text_left_over(part);
                deltas.extend(origins::needed_back(None, rest).filter(|_| has_text));
            }
        }
        self.cited.read(&deltas);
        deltas
    }

    /// The sources of the last text, which come at the end of the response.
    pub(super) fn rest(&self, data: &ResponseData) -> Vec<Delta> {
        let Some(metadata) = data.meta.get(native::GROUNDING) else {
            return Vec::new();
        };
        let mut deltas = self.cited.sources(metadata);
        deltas.extend(native::grounding_part(metadata));
        deltas
    }

    /// Reads a part without a call. Returns whether its signature follows; other parts have it in their origin.
    fn part(part: &Value, deltas: &mut Vec<Delta>) -> bool {
        if let Some(text) = text(part, "text") {
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            deltas.push(if thought {
                Delta::Thought(text)
            } else {
                Delta::Text(text)
            });
        } else {
            deltas.extend(complete_part(part).map(Delta::Part));
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::LlmResponse;
    use crate::stream::StreamAccumulator;

    fn joined(chunks: &[Value]) -> LlmResponse {
        let (mut reader, mut accumulator) = (GeminiParser::default(), StreamAccumulator::new());
        for parts in chunks {
            let chunk = json!({"candidates": [{"content": {"parts": parts}}]});
            let deltas = reader.read(&chunk, &mut ResponseData::default());
            deltas.iter().for_each(|delta| accumulator.push(delta));
        }
        accumulator.finish(LlmResponse::default())
    }

    #[test]
    fn parts_keep_their_order_and_their_signatures() {
        let response = joined(&[
            json!([{"text": "Hm.", "thought": true}]),
            json!([
                {"text": "Two calls:"},
                {"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": "s1"},
                {"functionCall": {"name": "b", "id": "7"}, "thoughtSignature": "s2"},
                {"executableCode": {"language": "PYTHON", "code": "1"}},
            ]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([
                {"thought": {"text": "Hm."}},
                {"text": {"text": "Two calls:"}},
                {"call": {"id": "", "name": "a", "arguments": {"x": 1}, "signature": "s1"}},
                {"call": {"id": "7", "name": "b", "arguments": {}, "signature": "s2"}},
                {"code": {"language": "PYTHON", "code": "1"}},
            ])
        );
    }

    #[test]
    fn a064_a_signature_on_empty_text_is_a_part_of_its_own() {
        let response = joined(&[
            json!([{"functionCall": {"name": "a"}, "thoughtSignature": "s1"}, {"functionCall": {"name": "b"}}]),
            json!([{"text": "", "thoughtSignature": "s2"}]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([
                {"call": {"id": "", "name": "a", "arguments": {}, "signature": "s1"}},
                {"call": {"id": "", "name": "b", "arguments": {}}},
                {"text": {"text": "", "signature": "s2"}},
            ])
        );
        let response = joined(&[
            json!([{"text": "so"}]),
            json!([{"text": "", "thoughtSignature": "s"}]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([{"text": {"text": "so"}}, {"text": {"text": "", "signature": "s"}}])
        );
    }

    #[test]
    fn arguments_that_come_by_path_are_joined() {
        let response = joined(&[
            json!([{"functionCall": {"name": "book", "willContinue": true}}]),
            json!([{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "New "}], "willContinue": true}}]),
            json!([{"functionCall": {"partialArgs": [
                {"jsonPath": "$.city", "stringValue": "York"},
                {"jsonPath": "$.nights", "numberValue": 2},
                {"jsonPath": "$.note", "nullValue": "NULL_VALUE"},
            ], "willContinue": true}}]),
            json!([{"functionCall": {}}]),
            json!([{"functionCall": {"name": "pay", "args": {}}}]),
        ]);
        let calls: Vec<_> = response.calls().collect();
        assert_eq!(
            calls[0].arguments,
            json!({"city": "New York", "nights": 2, "note": null})
        );
        assert_eq!((calls.len(), calls[1].name.as_str()), (2, "pay"));
    }

    #[test]
    fn malformed_values_do_not_panic() {
        let mut reader = GeminiParser::default();
        for nonsense in [
            json!({"candidates": null}),
            json!({"candidates": [{"content": {"parts": [1, null, {"functionCall": 3}, {"inlineData": {}}]}}]}),
        ] {
            reader.read(&nonsense, &mut ResponseData::default());
        }
    }
}
