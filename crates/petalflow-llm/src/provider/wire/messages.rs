//! Anthropic's messages: blocks with a start, deltas and a stop.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::call_ids::CallIds;
use super::citations;
use super::content::{
    Dialogue, Turn, arguments_object, call_name, decimal, effort_level, effort_tokens, is_blank,
    result_text, split_result, with_extra,
};
use super::messages_computer;
use super::messages_media::media_block;
use super::messages_metadata::{
    READ_OF_DELTAS, as_blocks, mark_for_cache, read_container, read_metadata, read_refusal,
};
use super::messages_opaque::{CONTAINER, last_container, read_opaque};
use super::messages_tools;
use super::messages_version::ModelVersion;
use super::origins;
use super::response_data::{
    REDACTED, ResponseData, add_citations, arguments_text, hidden_reasoning, redacted, text,
};
use super::schemas::Schemas;
use super::usage;
use crate::native::ComputerUse;
use crate::provider::catalog::Target;
use crate::provider::plan::{MIN_REASONING, schema_instruction};
use crate::request::{Effort, PromptCache, ToolChoice};
use crate::stream::Delta;
use crate::{ChatMessage, LlmError, LlmRequest, Part, Role};
use petalflow::tool::ToolResult;

/// The version of the interface.
pub(crate) const VERSION: &str = "2023-06-01";

/// The body of a request. This format has no seed.
pub(super) fn body(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Schemas,
) -> Result<Value, LlmError> {
    let version = ModelVersion::of(target.model);
    let max_tokens = request.max_tokens.unwrap_or_else(|| version.max_tokens());
    let Dialogue { mut system, turns } = Dialogue::of(request);
    let mut body = json!({
        "model": target.model,
        "max_tokens": max_tokens,
        "messages": messages(target, request, turns)?,
    });
    if target.streaming {
        body["stream"] = true.into();
    }
    if let Some(container) = last_container(target, request) {
        body["container"] = container.into();
    }
    if request.has_tools() {
        body["tools"] = messages_tools::tools(target, request, schemas.tools, schemas.searchable);
        body["tool_choice"] = messages_tools::choice(&request.tool_choice);
        if !target.capabilities.parallel_calls && request.tool_choice != ToolChoice::None {
            body["tool_choice"]["disable_parallel_tool_use"] = true.into();
        }
    }
    if let Some(sent) = schemas.answer {
        if sent.strict {
            body["output_config"]["format"] =
                json!({ "type": "json_schema", "schema": sent.schema });
        } else {
            // Maps and recursive types have no schema that is enforced.
            system.push(schema_instruction(&sent.schema));
        }
    }
    if !system.is_empty() {
        body["system"] = system.join("\n\n").into();
    }
    if let Some(effort) = request.effort {
        reasoning(&mut body, target, effort, max_tokens);
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = decimal(temperature).into();
    }
    if let Some(top_p) = request.top_p {
        body["top_p"] = decimal(top_p).into();
    }
    if !request.stop.is_empty() {
        body["stop_sequences"] = request.stop.clone().into();
    }
    if request.prompt_cache != PromptCache::Automatic && target.capabilities.prompt_cache {
        mark_for_cache(&mut body, request.prompt_cache);
    }
    Ok(with_extra(body, request))
}

/// The options for reasoning. Models with levels decide themselves how long they reason.
fn reasoning(body: &mut Value, target: &Target<'_>, effort: Effort, max_tokens: u32) {
    if matches!(effort, Effort::None | Effort::Budget(0)) {
        return;
    }
    if !target.capabilities.efforts.is_empty() {
        body["output_config"]["effort"] = effort_level(effort).into();
        body["thinking"] = json!({ "type": "adaptive", "display": "summarized" });
    } else if effort != Effort::Minimal {
        // The answer needs tokens too.
        let most = max_tokens.saturating_sub(1).max(MIN_REASONING);
        let tokens = effort_tokens(effort).clamp(MIN_REASONING, most);
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": tokens });
    }
}

fn messages(
    target: &Target<'_>,
    request: &LlmRequest,
    turns: Vec<Turn<'_>>,
) -> Result<Vec<Value>, LlmError> {
    let mut messages: Vec<Value> = Vec::with_capacity(turns.len());
    let mut ids = CallIds::default();
    for turn in turns {
        let (role, content) = match turn {
            Turn::Instruction(text) => ("user", text.into()),
            Turn::Message(message) if message.role == Role::Assistant => {
                if messages
                    .last()
                    .is_none_or(|last| last["role"] != "assistant")
                {
                    ids.new_turn();
                }
                ("assistant", assistant_content(target, message, &mut ids))
            }
            Turn::Message(message) => ("user", user_content(target, message, &mut ids)?),
        };
        match messages.last_mut() {
            _ if content.is_null() => {}
            // The parts of an answer that the provider has paused.
            Some(last) if role == "assistant" && last["role"] == role => {
                let mut blocks = as_blocks(last["content"].take());
                blocks.extend(as_blocks(content));
                last["content"] = blocks.into();
            }
            _ => messages.push(json!({ "role": role, "content": content })),
        }
    }
    let input = request.input_text.iter().filter(|text| !is_blank(text));
    messages.extend(input.map(|text| json!({ "role": "user", "content": text })));
    messages_computer::mark_results(&mut messages);
    Ok(messages)
}

/// The blocks of a message to the model: text alone as text. Null if nothing in it can be sent.
fn user_content(
    target: &Target<'_>,
    message: &ChatMessage,
    ids: &mut CallIds,
) -> Result<Value, LlmError> {
    let mut blocks = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        match part {
            // Text without anything but white space is an error.
            Part::Text(text) if is_blank(&text.text) => {}
            Part::Text(text) => blocks.push(json!({ "type": "text", "text": text.text })),
            Part::Media(media) => blocks.push(media_block(media)?),
            Part::Code { .. } | Part::CodeResult { .. } => {
                let text = part.code_as_text();
                blocks.extend(text.map(|text| json!({ "type": "text", "text": text })));
            }
            Part::Result(result) => {
                blocks.push(result_block(target, result, ids.for_result(result))?);
            }
            Part::Provider { .. } => blocks.extend(target.opaque(part).cloned()),
            Part::Thought(_) | Part::Call(_) | Part::Citation(_) => {}
        }
    }
    Ok(content(blocks))
}

/// The result of a tool: text, or blocks if it has media.
fn result_block(target: &Target<'_>, result: &ToolResult, id: String) -> Result<Value, LlmError> {
    let sent = split_result(result, |media| {
        target.takes(media) && media_block(media).is_ok()
    });
    let text = result_text(&sent.content, result.is_error);
    let mut block = json!({ "type": "tool_result", "tool_use_id": id });
    let has_text = !is_blank(&text);
    if !sent.media.is_empty() {
        let mut blocks = Vec::new();
        if has_text {
            blocks.push(json!({ "type": "text", "text": text }));
        }
        for media in &sent.media {
            blocks.push(media_block(media)?);
        }
        block["content"] = blocks.into();
    } else if has_text {
        block["content"] = text.into();
    }
    if result.is_error {
        block["is_error"] = true.into();
    }
    Ok(block)
}

/// The blocks of a message from the model. Reasoning is sent back only with its signature.
fn assistant_content(target: &Target<'_>, message: &ChatMessage, ids: &mut CallIds) -> Value {
    let blocks = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if is_blank(&text.text) => None,
        Part::Text(text) => {
            let mut block = json!({ "type": "text", "text": text.text });
            target.add_fields(&mut block, part.origin());
            Some(block)
        }
        Part::Thought(thought) => {
            let signature = target.signature(thought.signature.as_deref(), part.origin())?;
            let mut block = match signature.strip_prefix(REDACTED) {
                Some(data) => json!({ "type": "redacted_thinking", "data": data }),
                None => {
                    json!({ "type": "thinking", "thinking": thought.text, "signature": signature })
                }
            };
            target.add_fields(&mut block, part.origin());
            Some(block)
        }
        Part::Call(call) => {
            let id = ids.for_call(call);
            let fields = target.own_fields(part.origin());
            let action = fields.and_then(|fields| messages_computer::block(call, &id, fields));
            let mut block = action.unwrap_or_else(|| {
                json!({
                    "type": "tool_use",
                    "id": id,
                    "name": call_name(&call.name),
                    "input": arguments_object(&call.arguments),
                })
            });
            target.add_fields(&mut block, part.origin());
            Some(block)
        }
        Part::Code { .. } | Part::CodeResult { .. } => {
            let text = part.code_as_text()?;
            Some(json!({ "type": "text", "text": text }))
        }
        Part::Provider { .. } => {
            let block = target.opaque(part)?;
            (block["type"] != CONTAINER).then(|| block.clone())
        }
        // A model cannot be sent what it drew.
        Part::Media(_) | Part::Result(_) | Part::Citation(_) => None,
    });
    content(blocks.collect())
}

fn content(mut blocks: Vec<Value>) -> Value {
    match &mut *blocks {
        [] => Value::Null,
        [Value::Object(only)] if only["type"] == "text" && only.len() == 2 => only["text"].take(),
        _ => blocks.into(),
    }
}

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct MessagesParser {
    calls: usize,
    /// The blocks that have started, by their index. Blocks may be interleaved.
    open: HashMap<u64, OpenBlock>,
    /// Whether the last content was text.
    ends_with_text: bool,
}

#[derive(Debug)]
struct OpenBlock {
    kind: Kind,
    /// What of the block is not read.
    rest: Map<String, Value>,
}

#[derive(Debug)]
enum Kind {
    /// Text, with the sources that it cites, and whether any has arrived.
    Text { cited: Vec<Value>, has_text: bool },
    /// A block that only the provider uses, and its input so far.
    Opaque { block: Value, input: String },
    /// Reasoning that is hidden.
    Redacted,
    /// The index of a call.
    Call(usize),
    /// The index of a call that is an action at a computer, and whether any of its input has arrived.
    Action { call: usize, has_input: bool },
    /// A reasoning block: its signature so far, and whether any of its text was visible.
    Thought { signature: String, visible: bool },
}

impl MessagesParser {
    pub(super) fn read(&mut self, event: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("message_start") => read_metadata(&event["message"], data),
            Some("message_delta") => {
                let reason = text(event, "/delta/stop_reason");
                data.finish = reason.or_else(|| data.finish.take());
                read_container(&event["delta"], data);
                read_refusal(&event["delta"], data);
                usage::anthropic(&event["usage"], &mut data.usage);
            }
            // The response is complete, even if no event had a finish reason.
            Some("message_stop") => {
                data.finish.get_or_insert_with(|| "end_turn".to_string());
                data.closed = true;
            }
            Some("content_block_start") => {
                // Some servers do not send the end of a block.
                self.end_block(index, &mut deltas);
                self.start_block(index, &event["content_block"], data, &mut deltas);
            }
            Some("content_block_delta") => {
                self.read_delta(index, &event["delta"], data, &mut deltas);
            }
            Some("content_block_stop") => self.end_block(index, &mut deltas),
            _ => {
                let blocks = event["content"].as_array();
                for (index, block) in (0..).zip(blocks.into_iter().flatten()) {
                    self.ends_with_text = deltas.last().is_some_and(is_text);
                    self.start_block(index, block, data, &mut deltas);
                    self.end_block(index, &mut deltas);
                }
                read_metadata(event, data);
            }
        }
        if let Some(last) = deltas.last() {
            self.ends_with_text = is_text(last);
        }
        deltas
    }

    fn start_block(
        &mut self,
        index: u64,
        block: &Value,
        data: &mut ResponseData,
        deltas: &mut Vec<Delta>,
    ) {
        let (kind, read): (_, &[&str]) = match block["type"].as_str() {
            Some("text") => {
                add_citations(block.get("citations"), data);
                // Each block is a part of its own.
                deltas.extend(self.ends_with_text.then(origins::end_of_text));
                let words = non_empty_text(block, "/text");
                let kind = Kind::Text {
                    cited: block["citations"].as_array().cloned().unwrap_or_default(),
                    has_text: words.is_some(),
                };
                deltas.extend(words.map(Delta::Text));
                (kind, &["type", "text", "citations"])
            }
            Some("thinking") => {
                let reasoning = non_empty_text(block, "/thinking");
                let kind = Kind::Thought {
                    signature: text(block, "/signature").unwrap_or_default(),
                    visible: reasoning.is_some(),
                };
                deltas.extend(reasoning.map(Delta::Thought));
                (kind, &["type", "thinking", "signature"])
            }
            Some("tool_use") => {
                // In a stream the input is empty at the start.
                let input = block.get("input");
                let is_empty = input.is_some_and(|input| input == &json!({}));
                let mut input = arguments_text(input.filter(|_| !is_empty));
                let action = messages_computer::action(block);
                let has_input = !input.is_empty();
                let name = match action {
                    Some(action) => {
                        input.insert_str(0, &messages_computer::before_input(action));
                        Some(ComputerUse::NAME.to_string())
                    }
                    None => text(block, "/name"),
                };
                let call = self.call(text(block, "/id"), name, input, deltas);
                let kind = match action {
                    Some(_) => Kind::Action { call, has_input },
                    None => Kind::Call(call),
                };
                (kind, &["type", "id", "name", "input"])
            }
            Some("redacted_thinking") => {
                deltas.extend(redacted(block).map(Delta::Part));
                (Kind::Redacted, &["type", "data"])
            }
            Some(_) => {
                let (block, input) = (block.clone(), String::new());
                self.open.insert(
                    index,
                    OpenBlock {
                        kind: Kind::Opaque { block, input },
                        rest: Map::new(),
                    },
                );
                return;
            }
            None => return,
        };
        let rest = origins::left_over(block, read);
        self.open.insert(index, OpenBlock { kind, rest });
    }

    /// Starts a call.
    fn call(
        &mut self,
        id: Option<String>,
        name: Option<String>,
        arguments: String,
        deltas: &mut Vec<Delta>,
    ) -> usize {
        let index = self.calls;
        self.calls += 1;
        deltas.push(Delta::Call {
            index,
            id,
            name,
            arguments,
        });
        index
    }

    fn read_delta(
        &mut self,
        index: u64,
        delta: &Value,
        data: &mut ResponseData,
        deltas: &mut Vec<Delta>,
    ) {
        if let Some(piece) = non_empty_text(delta, "/partial_json") {
            self.read_input(index, piece, deltas);
            return;
        }
        let words = non_empty_text(delta, "/text");
        let is_text = words.is_some();
        let citation = delta.get("citation");
        if let Some(citation) = citation {
            add_citations(Some(&Value::Array(vec![citation.clone()])), data);
        }
        let Some(OpenBlock { kind, rest }) = self.open.get_mut(&index) else {
            deltas.extend(words.map(Delta::Text));
            return;
        };
        if let Kind::Opaque { block, input } = kind {
            read_opaque(block, input, delta);
            return;
        }
        deltas.extend(words.map(Delta::Text));
        match kind {
            Kind::Text { cited, has_text } => {
                *has_text |= is_text;
                cited.extend(citation.cloned());
            }
            Kind::Redacted | Kind::Call(_) | Kind::Action { .. } | Kind::Opaque { .. } => {}
            Kind::Thought { signature, visible } => {
                if let Some(reasoning) = non_empty_text(delta, "/thinking") {
                    *visible = true;
                    deltas.push(Delta::Thought(reasoning));
                }
                signature.extend(text(delta, "/signature"));
            }
        }
        rest.extend(origins::left_over(delta, &READ_OF_DELTAS));
    }

    /// A piece of the input of a call. Some servers give it another index than the call: it is that of the only open call. If
    /// it may be that of several, it is a call without a name, and none of them is made without input of its own.
    fn read_input(&mut self, index: u64, piece: String, deltas: &mut Vec<Delta>) {
        let known = match self.open.get_mut(&index).map(|open| &mut open.kind) {
            Some(Kind::Opaque { input, .. }) => {
                input.push_str(&piece);
                return;
            }
            Some(Kind::Call(call)) => Some(*call),
            Some(Kind::Action { call, has_input }) => {
                *has_input = true;
                Some(*call)
            }
            _ => None,
        };
        let mut open = self.open.values().filter_map(|open| match open.kind {
            Kind::Call(call) => Some(call),
            _ => None,
        });
        let only = open.next().filter(|_| open.next().is_none());
        match known.or(only) {
            Some(index) => deltas.push(Delta::Call {
                index,
                id: None,
                name: None,
                arguments: piece,
            }),
            None => drop(self.call(None, None, piece, deltas)),
        }
    }

    fn end_block(&mut self, index: u64, deltas: &mut Vec<Delta>) {
        let Some(OpenBlock { kind, mut rest }) = self.open.remove(&index) else {
            return;
        };
        let of_call = match kind {
            Kind::Thought { signature, .. } if signature.is_empty() => return,
            Kind::Thought { signature, visible } => {
                deltas.push(if visible {
                    Delta::Signature(signature)
                } else {
                    hidden_reasoning(signature)
                });
                None
            }
            Kind::Text {
                has_text: false, ..
            } => return,
            Kind::Text { cited, .. } => {
                let sources = citations::of_block(&cited);
                if !cited.is_empty() {
                    rest.insert("citations".to_string(), cited.into());
                }
                deltas.extend(origins::needed_back(None, rest));
                deltas.extend(sources);
                return;
            }
            Kind::Opaque { mut block, input } => {
                if let Ok(input) = serde_json::from_str(&input) {
                    block["input"] = input;
                }
                deltas.push(origins::opaque(block));
                return;
            }
            Kind::Redacted => None,
            Kind::Call(call) => Some(call),
            Kind::Action { call, has_input } => {
                deltas.push(Delta::Call {
                    index: call,
                    id: None,
                    name: None,
                    arguments: messages_computer::after_input(has_input),
                });
                Some(call)
            }
        };
        deltas.extend(origins::needed_back(of_call, rest));
    }
}

fn is_text(delta: &Delta) -> bool {
    matches!(delta, Delta::Text(_))
}

fn non_empty_text(value: &Value, path: &str) -> Option<String> {
    text(value, path).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LlmResponse;
    use crate::stream::StreamAccumulator;

    #[test]
    fn interleaved_blocks_get_their_own_arguments() {
        let start = |index: u64, id: &str| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": "x", "input": {}}});
        let delta = |index: u64, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
        let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
        let (mut parser, mut accumulator) = (MessagesParser::default(), StreamAccumulator::new());
        for event in [
            start(0, "a"),
            start(1, "b"),
            delta(1, "{\"n\": "),
            delta(0, "{\"n\": 1"),
            delta(1, "2}"),
            stop(1),
            delta(0, "}"),
            stop(0),
        ] {
            let deltas = parser.read(&event, &mut ResponseData::default());
            deltas.iter().for_each(|delta| accumulator.push(delta));
        }
        let response = accumulator.finish(LlmResponse::default());
        let calls: Vec<_> = response
            .calls()
            .map(|call| (call.id.as_str(), call.arguments["n"].clone()))
            .collect();
        assert_eq!(calls, [("a", json!(1)), ("b", json!(2))]);
    }
}
