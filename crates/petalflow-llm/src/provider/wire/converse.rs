//! Bedrock's `Converse`: messages of blocks, each an object whose field names its kind.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::call_ids::CallIds;
use super::content::{
    Dialogue, Turn, arguments_object, call_name, decimal, effort_level, effort_tokens, is_blank,
    result_text, split_result, unsupported, with_extra,
};
use super::converse_blocks::{
    CITED, READ_OF_CALLS, add_fields, add_text_fields, cited_text, format_of, left_over,
    reasoning_fields, text_block,
};
use super::response_data::{REDACTED, ResponseData, arguments_text, hidden_reasoning, text};
use super::schemas::Schemas;
use super::usage;
use super::{citations, converse_tools, origins};
use crate::message::{Media, MediaSource};
use crate::provider::catalog::Target;
use crate::provider::plan::{MIN_REASONING, schema_instruction};
use crate::request::{Effort, PromptCache};
use crate::stream::Delta;
use crate::{LlmError, LlmRequest, Part, Role};
use petalflow::tool::ToolResult;

/// The tokens for the answer beside those for reasoning, if the request has no limit.
const ANSWER_TOKENS: u32 = 8_192;

/// The body of a request. The model is in the path.
pub(super) fn body(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Schemas,
) -> Result<Value, LlmError> {
    let Dialogue { mut system, turns } = Dialogue::of(request);
    let mut body = json!({ "messages": messages(target, request, turns)? });
    let mut inference = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        inference.extend(value.map(|value| (name.to_string(), value)));
    };
    set("maxTokens", request.max_tokens.map(Into::into));
    set(
        "temperature",
        request.temperature.map(|value| decimal(value).into()),
    );
    set("topP", request.top_p.map(|value| decimal(value).into()));
    set(
        "stopSequences",
        (!request.stop.is_empty()).then(|| request.stop.clone().into()),
    );
    if let Some(effort) = request.effort {
        reasoning(
            &mut body,
            &mut inference,
            target,
            effort,
            request.max_tokens,
        );
    }
    if !inference.is_empty() {
        body["inferenceConfig"] = inference.into();
    }
    if let Some(config) = converse_tools::config(request, schemas.tools) {
        body["toolConfig"] = config;
    }
    match schemas.answer {
        Some(sent) if sent.strict => {
            let schema = json!({ "schema": sent.schema.to_string(), "name": "answer" });
            body["outputConfig"]["textFormat"] =
                json!({ "type": "json_schema", "structure": { "jsonSchema": schema } });
        }
        Some(sent) => system.push(schema_instruction(&sent.schema)),
        None => {}
    }
    if !system.is_empty() {
        body["system"] = system.iter().map(|text| json!({ "text": text })).collect();
    }
    if request.prompt_cache != PromptCache::Automatic && target.capabilities.prompt_cache {
        mark_for_cache(&mut body, request.prompt_cache);
    }
    Ok(with_extra(body, request))
}

/// The options for reasoning, under the names of each maker of models.
fn reasoning(
    body: &mut Value,
    inference: &mut Map<String, Value>,
    target: &Target<'_>,
    effort: Effort,
    limit: Option<u32>,
) {
    let is_off = matches!(effort, Effort::None | Effort::Budget(0));
    // Nova does not reason unless it is told to.
    if is_off && target.model.contains("nova") {
        return;
    }
    let fields = &mut body["additionalModelRequestFields"];
    if !target.model.contains("claude") {
        *fields = if target.model.contains("nova") {
            json!({ "reasoningConfig": { "type": "enabled", "maxReasoningEffort": effort_level(effort) } })
        } else {
            json!({ "reasoning_effort": effort_level(effort) })
        };
        return;
    }
    let takes_levels = !target.capabilities.efforts.is_empty();
    if is_off || (!takes_levels && effort == Effort::Minimal) {
        if let Value::Object(body) = body {
            body.remove("additionalModelRequestFields");
        }
    } else if takes_levels {
        *fields = json!({
            "thinking": { "type": "adaptive" },
            "output_config": { "effort": effort_level(effort) },
        });
    } else {
        // The answer needs tokens too.
        let most = limit.map_or(u32::MAX, |limit| limit.saturating_sub(1).max(MIN_REASONING));
        let tokens = effort_tokens(effort).clamp(MIN_REASONING, most);
        *fields = json!({ "thinking": { "type": "enabled", "budget_tokens": tokens } });
        let all = tokens.saturating_add(ANSWER_TOKENS);
        inference.entry("maxTokens").or_insert_with(|| all.into());
    }
}

/// Marks the ends of the parts of a request that later requests repeat.
fn mark_for_cache(body: &mut Value, cache: PromptCache) {
    let mut point = json!({ "type": "default" });
    if cache == PromptCache::Long {
        point["ttl"] = "1h".into();
    }
    let point = json!({ "cachePoint": point });
    for path in ["/system", "/toolConfig/tools"] {
        let list = body.pointer_mut(path).and_then(Value::as_array_mut);
        list.into_iter().for_each(|list| list.push(point.clone()));
    }
    let last = body["messages"]
        .as_array_mut()
        .and_then(|all| all.last_mut());
    let content = last.and_then(|message| message["content"].as_array_mut());
    content
        .into_iter()
        .for_each(|content| content.push(point.clone()));
}

/// The messages. Their roles must alternate.
fn messages(
    target: &Target<'_>,
    request: &LlmRequest,
    turns: Vec<Turn<'_>>,
) -> Result<Value, LlmError> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::with_capacity(turns.len());
    let mut writer = Writer {
        target,
        ids: CallIds::default(),
        documents: 0,
    };
    let mut add = |role, blocks: Vec<Value>| match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some((last, content)) if *last == role => content.extend(blocks),
        _ => messages.push((role, blocks)),
    };
    for turn in turns {
        match turn {
            Turn::Instruction(text) => add("user", vec![json!({ "text": text })]),
            Turn::Message(message) => {
                let role = if message.role == Role::Assistant {
                    writer.ids.new_turn();
                    "assistant"
                } else {
                    "user"
                };
                let mut blocks = Vec::with_capacity(message.parts.len());
                for part in &message.parts {
                    blocks.extend(writer.block(part, role == "assistant")?);
                }
                add(role, blocks);
            }
        }
    }
    if let Some(input) = request.input_text.as_ref().filter(|text| !is_blank(text)) {
        add("user", vec![json!({ "text": input })]);
    }
    let messages = messages.into_iter();
    let messages = messages.map(|(role, content)| json!({ "role": role, "content": content }));
    Ok(messages.collect())
}

struct Writer<'t, 'a> {
    target: &'t Target<'a>,
    ids: CallIds,
    /// The number of documents so far: each has a name of its own.
    documents: usize,
}

impl Writer<'_, '_> {
    fn block(&mut self, part: &Part, of_model: bool) -> Result<Option<Value>, LlmError> {
        Ok(match part {
            // Text without anything but white space is an error.
            Part::Text(text) if is_blank(&text.text) => None,
            Part::Text(text) => {
                let fields = self.target.own_fields(part.origin());
                Some(self.with_fields(text_block(&text.text, fields), part))
            }
            Part::Thought(thought) if of_model => {
                let signature = thought.signature.as_deref();
                let signature = self.target.signature(signature, part.origin());
                signature.map(|signature| {
                    let content = match signature.strip_prefix(REDACTED) {
                        Some(data) => json!({ "redactedContent": data }),
                        None => json!({
                            "reasoningText": { "text": thought.text, "signature": signature },
                        }),
                    };
                    self.with_fields(json!({ "reasoningContent": content }), part)
                })
            }
            Part::Call(call) if of_model => {
                let block = json!({ "toolUse": {
                    "toolUseId": self.ids.for_call(call),
                    "name": call_name(&call.name),
                    "input": arguments_object(&call.arguments),
                } });
                Some(self.with_fields(block, part))
            }
            Part::Code { .. } | Part::CodeResult { .. } => {
                part.code_as_text().map(|text| json!({ "text": text }))
            }
            Part::Media(media) if !of_model => Some(self.media(media)?),
            Part::Result(result) if !of_model => Some(self.result(result)?),
            Part::Provider { .. } => self.target.opaque(part).cloned(),
            Part::Thought(_)
            | Part::Call(_)
            | Part::Media(_)
            | Part::Result(_)
            | Part::Citation(_) => None,
        })
    }

    fn with_fields(&self, mut block: Value, part: &Part) -> Value {
        self.target.add_fields(&mut block, part.origin());
        block
    }

    fn result(&mut self, result: &ToolResult) -> Result<Value, LlmError> {
        let target = self.target;
        let sent = split_result(result, |media| {
            target.takes(media) && format_of(media).is_some_and(|(kind, _)| kind != "video")
        });
        let mut content = vec![json!({ "text": result_text(&sent.content, result.is_error) })];
        for media in &sent.media {
            content.push(self.media(media)?);
        }
        let status = if result.is_error { "error" } else { "success" };
        Ok(json!({ "toolResult": {
            "toolUseId": self.ids.for_result(result), "content": content, "status": status,
        } }))
    }

    fn media(&mut self, media: &Media) -> Result<Value, LlmError> {
        let source = match &media.source {
            MediaSource::Base64(data) => json!({ "bytes": data }),
            MediaSource::Url(url) if url.starts_with("s3://") => {
                json!({ "s3Location": { "uri": url } })
            }
            MediaSource::Url(_) => {
                let instead = "load it, and send its data as base64, or give an address in S3";
                return Err(unsupported(media, instead));
            }
        };
        let Some((kind, format)) = format_of(media) else {
            return Err(unsupported(media, "use a model of another provider for it"));
        };
        let mut block = json!({ "format": format, "source": source });
        if kind == "document" {
            self.documents += 1;
            block["name"] = format!("document {}", self.documents).into();
        }
        Ok(json!({ kind: block }))
    }
}

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct ConverseParser {
    calls: usize,
    /// The block of the last content, if it is text. Each block of text is a part of its own.
    text: Option<u64>,
    open: HashMap<u64, OpenBlock>,
}

#[derive(Debug)]
enum OpenBlock {
    Call {
        index: usize,
        /// What of it is not read.
        rest: Map<String, Value>,
    },
    /// Reasoning: its signature so far, and whether any of its text was visible.
    Thought {
        signature: String,
        visible: bool,
        rest: Map<String, Value>,
    },
    /// Text, of which something is not read.
    Text { rest: Map<String, Value> },
    /// A block that only the provider uses, the name of what is in it, and the text of its input so far.
    Opaque {
        name: String,
        block: Value,
        input: String,
    },
}

impl ConverseParser {
    pub(super) fn read(&mut self, frame: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let mut deltas = Vec::new();
        for (name, event) in frame.as_object().into_iter().flatten() {
            let index = event["contentBlockIndex"].as_u64().unwrap_or(0);
            match &**name {
                "contentBlockStart" => self.start(index, &event["start"], &mut deltas),
                "contentBlockDelta" => self.delta(index, &event["delta"], &mut deltas),
                "contentBlockStop" => self.stop(index, &mut deltas),
                "messageStop" => {
                    data.finish = text(event, "/stopReason").or_else(|| data.finish.take());
                    add_fields(event, data);
                }
                "metadata" => {
                    data.usage = usage::bedrock(&event["usage"]);
                    add_fields(event, data);
                    data.closed = data.finish.is_some();
                }
                "output" => {
                    let blocks = event.pointer("/message/content").and_then(Value::as_array);
                    for block in blocks.into_iter().flatten() {
                        self.whole(block, &mut deltas);
                    }
                }
                "stopReason" => data.finish = event.as_str().map(str::to_string),
                "usage" => data.usage = usage::bedrock(event),
                _ => {}
            }
        }
        add_fields(frame, data);
        deltas
    }

    fn start(&mut self, index: u64, start: &Value, deltas: &mut Vec<Delta>) {
        self.text = None;
        let Some(fields) = start.as_object() else {
            return;
        };
        let call = fields.get("toolUse");
        let own = call.filter(|call| call["type"] != SERVER_TOOL);
        let open = if let Some(call) = own {
            OpenBlock::Call {
                index: self.call(call, deltas),
                rest: left_over(start, "toolUse", &READ_OF_CALLS),
            }
        } else {
            let first = fields.keys().next().map(String::as_str);
            let Some(name) = call.map(|_| "toolUse").or(first) else {
                return;
            };
            OpenBlock::Opaque {
                name: name.to_string(),
                block: start.clone(),
                input: String::new(),
            }
        };
        self.open.insert(index, open);
    }

    /// A call. In a stream its input follows.
    fn call(&mut self, block: &Value, deltas: &mut Vec<Delta>) -> usize {
        let index = self.calls;
        self.calls += 1;
        deltas.push(Delta::Call {
            index,
            id: text(block, "/toolUseId"),
            name: text(block, "/name"),
            arguments: arguments_text(block.get("input")),
        });
        index
    }

    fn delta(&mut self, index: u64, delta: &Value, deltas: &mut Vec<Delta>) {
        if let Some(words) = text(delta, "/text").filter(|text| !text.is_empty()) {
            if self.text.replace(index).is_some_and(|last| last != index) {
                deltas.push(origins::end_of_text());
            }
            deltas.push(Delta::Text(words));
        }
        let is_new = !origins::left_over(delta, &["text"]).is_empty();
        if is_new && (delta.get("text").is_some() || delta.get("citation").is_some()) {
            let rest = Map::new();
            let open = self.open.entry(index);
            if let OpenBlock::Text { rest } = open.or_insert(OpenBlock::Text { rest }) {
                add_text_fields(rest, delta);
            }
        }
        if let Some(reasoning) = delta.get("reasoningContent") {
            self.reasoning(index, reasoning, deltas);
        }
        if let Some(OpenBlock::Opaque { name, block, input }) = self.open.get_mut(&index) {
            match delta.get(&**name) {
                Some(Value::Array(items)) => match &mut block[&**name]["content"] {
                    Value::Array(content) => content.extend(items.iter().cloned()),
                    content => *content = items.clone().into(),
                },
                Some(piece) => input.extend(text(piece, "/input")),
                None => {}
            }
            return;
        }
        if let Some(piece) = text(delta, "/toolUse/input").filter(|text| !text.is_empty()) {
            self.input(index, piece, deltas);
        }
    }

    fn reasoning(&mut self, index: u64, reasoning: &Value, deltas: &mut Vec<Delta>) {
        let new = || OpenBlock::Thought {
            signature: String::new(),
            visible: false,
            rest: Map::new(),
        };
        let open = self.open.entry(index).or_insert_with(new);
        let OpenBlock::Thought {
            signature,
            visible,
            rest,
        } = open
        else {
            return;
        };
        self.text = None;
        if let Some(thought) = text(reasoning, "/text").filter(|text| !text.is_empty()) {
            *visible = true;
            deltas.push(Delta::Thought(thought));
        }
        signature.extend(text(reasoning, "/signature"));
        if let Some(redacted) = text(reasoning, "/redactedContent") {
            if signature.is_empty() {
                signature.push_str(REDACTED);
            }
            signature.push_str(&redacted);
        }
        rest.extend(origins::left_over(
            reasoning,
            &["text", "signature", "redactedContent"],
        ));
    }

    /// A piece of the input of a call. Under the index of no call it is that of the only open call, or a call without a name:
    /// then no call without input of its own is made.
    fn input(&mut self, index: u64, piece: String, deltas: &mut Vec<Delta>) {
        let call = |open: &OpenBlock| match open {
            OpenBlock::Call { index, .. } => Some(*index),
            _ => None,
        };
        let known = self.open.get(&index).and_then(call);
        let mut open = self.open.values().filter_map(call);
        let only = open.next().filter(|_| open.next().is_none());
        let index = known.or(only).unwrap_or_else(|| {
            self.calls += 1;
            self.calls - 1
        });
        deltas.push(Delta::Call {
            index,
            id: None,
            name: None,
            arguments: piece,
        });
    }

    fn stop(&mut self, index: u64, deltas: &mut Vec<Delta>) {
        match self.open.remove(&index) {
            Some(OpenBlock::Thought {
                signature,
                visible,
                rest,
            }) if !signature.is_empty() => {
                let field = if signature.starts_with(REDACTED) {
                    None
                } else {
                    Some("reasoningText")
                };
                deltas.push(if visible {
                    Delta::Signature(signature)
                } else {
                    hidden_reasoning(signature)
                });
                deltas.extend(origins::needed_back(None, reasoning_fields(field, rest)));
            }
            Some(OpenBlock::Call { index, rest }) => {
                deltas.extend(origins::needed_back(Some(index), rest));
            }
            Some(OpenBlock::Text { rest }) => {
                let cited = citations::of_converse(&rest);
                deltas.extend(origins::needed_back(None, rest));
                deltas.extend(cited);
            }
            Some(OpenBlock::Opaque {
                name,
                mut block,
                input,
            }) => {
                if let Ok(input) = serde_json::from_str(&input) {
                    block[&*name]["input"] = input;
                }
                deltas.push(origins::opaque(block));
            }
            _ => {}
        }
    }

    fn whole(&mut self, block: &Value, deltas: &mut Vec<Delta>) {
        let call = block
            .get("toolUse")
            .filter(|call| call["type"] != SERVER_TOOL);
        let is_text = block.get("text").is_some() || block.get(CITED).is_some();
        if is_text && matches!(deltas.last(), Some(Delta::Text(_))) {
            deltas.push(origins::end_of_text());
        }
        if let Some(call) = call {
            let index = self.call(call, deltas);
            let rest = left_over(block, "toolUse", &READ_OF_CALLS);
            deltas.extend(origins::needed_back(Some(index), rest));
        } else if let Some(text) = text(block, "/text") {
            let rest = origins::left_over(block, &["text"]);
            let is_empty = text.is_empty();
            deltas.push(Delta::Text(text));
            deltas.extend(origins::needed_back(None, rest).filter(|_| !is_empty));
        } else if let Some(reasoning) = block.get("reasoningContent") {
            let mut rest = origins::left_over(block, &["reasoningContent"]);
            let read = ["reasoningText", "redactedContent"];
            let mut of_reasoning = origins::left_over(reasoning, &read);
            if let Some(data) = text(reasoning, "/redactedContent") {
                deltas.push(hidden_reasoning(format!("{REDACTED}{data}")));
            } else {
                deltas.extend(text(reasoning, "/reasoningText/text").map(Delta::Thought));
                let signature = text(reasoning, "/reasoningText/signature");
                let is_signed = signature.is_some();
                deltas.extend(signature.map(Delta::Signature));
                if !is_signed {
                    return;
                }
                let words = &reasoning["reasoningText"];
                let of_words = origins::left_over(words, &["text", "signature"]);
                if !of_words.is_empty() {
                    of_reasoning.insert("reasoningText".to_string(), of_words.into());
                }
            }
            rest.extend(reasoning_fields(None, of_reasoning));
            deltas.extend(origins::needed_back(None, rest));
        } else if let Some((text, rest)) = cited_text(block) {
            let cited = citations::of_converse(&rest);
            deltas.push(Delta::Text(text));
            deltas.extend(origins::needed_back(None, rest));
            deltas.extend(cited);
        } else {
            // Sources that have no text are those of the text before them.
            deltas.extend(
                block
                    .as_object()
                    .into_iter()
                    .flat_map(citations::of_converse),
            );
            deltas.push(origins::opaque(block.clone()));
        }
    }
}

/// The type of a call that Bedrock makes itself.
const SERVER_TOOL: &str = "server_tool_use";
