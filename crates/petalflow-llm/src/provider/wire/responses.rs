//! OpenAI's responses: a list of items. Each item may arrive in chunks.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::call_ids::CallIds;
use super::content::{
    arguments_object, call_name, decimal, effort_level, result_text, split_result, user_message,
    with_extra,
};
use super::message_items::{self, chunks, full_text, is_opaque, words};
use super::origins;
use super::received_text::ReceivedText;
use super::response_data::{
    REDACTED, ResponseData, add_citations, add_to_meta, arguments_text, hidden_reasoning, text,
};
use super::responses_computer;
use super::responses_media::media_part;
use super::responses_tools;
use super::schemas::Schemas;
use super::usage;
use crate::native::ComputerUse;
use crate::provider::catalog::{Target, XAI};
use crate::request::ToolChoice;
use crate::response::Reasoning;
use crate::stream::Delta;
use crate::{ChatMessage, LlmError, LlmRequest, Part, Role};
use petalflow::tool::ToolResult;

/// The body of a request. This format has no seed and no stop sequences. OpenAI does not store the response.
pub(super) fn body(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Schemas,
) -> Result<Value, LlmError> {
    let mut body =
        json!({ "model": target.model, "store": false, "input": input(target, request)? });
    if target.streaming {
        body["stream"] = true.into();
    }
    if let Some(system) = &request.system {
        body["instructions"] = system.as_str().into();
    }
    if target.provider == XAI {
        // It has no summaries that are asked for.
        body["include"] = json!(["reasoning.encrypted_content"]);
        if let Some(effort) = request.effort {
            body["reasoning"] = json!({ "effort": effort_level(effort) });
        }
    } else if target.capabilities.reasoning {
        // The reasoning is sent back with the next request, because OpenAI does not store it.
        body["include"] = json!(["reasoning.encrypted_content"]);
        body["reasoning"] = json!({ "summary": "auto" });
        if let Some(effort) = request.effort {
            body["reasoning"]["effort"] = effort_level(effort).into();
        }
    }
    responses_tools::include(&mut body, target, request);
    if request.has_tools() {
        body["tools"] = responses_tools::tools(target, request, schemas.tools, schemas.searchable);
        if !target.capabilities.parallel_calls {
            body["parallel_tool_calls"] = false.into();
        }
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => body["tool_choice"] = "none".into(),
            ToolChoice::Required => body["tool_choice"] = "required".into(),
            ToolChoice::Tool(name) => {
                body["tool_choice"] = json!({ "type": "function", "name": name });
            }
        }
    }
    if let Some(sent) = schemas.answer {
        body["text"]["format"] = json!({
            "type": "json_schema",
            "name": "answer",
            "strict": sent.strict,
            "schema": sent.schema,
        });
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = decimal(temperature).into();
    }
    if let Some(top_p) = request.top_p {
        body["top_p"] = decimal(top_p).into();
    }
    if let Some(most) = request.max_tokens {
        body["max_output_tokens"] = most.into();
    }
    Ok(with_extra(body, request))
}

/// The items in order: instructions, conversation, input. The system prompt is a field of the body.
fn input(target: &Target<'_>, request: &LlmRequest) -> Result<Vec<Value>, LlmError> {
    let system = |text: &String| json!({ "role": "system", "content": text });
    let mut items: Vec<_> = request.instructions.iter().map(system).collect();
    let mut ids = CallIds::default();
    for message in request.messages.iter() {
        match message.role {
            Role::System => items.push(system(&message.text())),
            Role::User => items.extend(user_message(target, message, "input_text", media_part)?),
            Role::Assistant => {
                ids.new_turn();
                assistant_items(target, message, &mut ids, &mut items);
            }
            Role::Tool => {
                for result in message.tool_results() {
                    let id = ids.for_result(result);
                    let output = output(target, result)?;
                    items.push(
                        json!({ "type": "function_call_output", "call_id": id, "output": output }),
                    );
                }
            }
        }
    }
    let input = request.input_text.iter();
    items.extend(input.map(|text| json!({ "role": "user", "content": text })));
    responses_computer::make_screenshots(&mut items);
    Ok(items)
}

/// The result of a tool: text, or parts if it has media.
fn output(target: &Target<'_>, result: &ToolResult) -> Result<Value, LlmError> {
    let sent = split_result(result, |media| {
        target.takes(media) && media_part(media).is_ok()
    });
    let text = result_text(&sent.content, result.is_error);
    if sent.media.is_empty() {
        return Ok(text.into());
    }
    let mut parts = vec![json!({ "type": "input_text", "text": text })];
    for media in &sent.media {
        parts.push(media_part(media)?);
    }
    Ok(parts.into())
}

/// The items of a message from the model, in its order. Reasoning is sent back if it is encrypted or in clear: OpenAI has not
/// stored what a summary is of.
fn assistant_items(
    target: &Target<'_>,
    message: &ChatMessage,
    ids: &mut CallIds,
    items: &mut Vec<Value>,
) {
    let mut texts = Vec::new();
    let flush = |texts: &mut Vec<Value>, items: &mut Vec<Value>| {
        if !texts.is_empty() {
            let content = std::mem::take(texts);
            items.push(json!({ "type": "message", "role": "assistant", "content": content }));
        }
    };
    for part in &message.parts {
        let mut item = match part {
            Part::Text(text) if text.text.is_empty() => continue,
            Part::Text(text) => {
                let fields = target.own_fields(part.origin());
                if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
                    flush(&mut texts, items);
                    message_items::add(items, &text.text, fields);
                } else {
                    texts.push(json!({ "type": "output_text", "text": text.text }));
                }
                continue;
            }
            Part::Code { .. } | Part::CodeResult { .. } => {
                let text = part.code_as_text();
                texts.extend(text.map(|text| json!({ "type": "output_text", "text": text })));
                continue;
            }
            Part::Thought(thought) => {
                flush(&mut texts, items);
                let signature = target.signature(thought.signature.as_deref(), part.origin());
                let fields = target.own_fields(part.origin());
                match signature.filter(|signature| !signature.starts_with(REDACTED)) {
                    Some(signature) => {
                        json!({ "type": "reasoning", "encrypted_content": signature, "summary": [] })
                    }
                    None if fields.is_some_and(|fields| fields.contains_key("content")) => {
                        json!({ "type": "reasoning", "summary": [] })
                    }
                    None => continue,
                }
            }
            Part::Call(call) => {
                let id = ids.for_call(call);
                let fields = target.own_fields(part.origin());
                let computer =
                    fields.and_then(|fields| responses_computer::item(call, &id, fields));
                computer.unwrap_or_else(|| {
                    json!({
                        "type": "function_call",
                        "call_id": id,
                        "name": call_name(&call.name),
                        "arguments": arguments_object(&call.arguments).to_string(),
                    })
                })
            }
            Part::Provider { .. } => match target.opaque(part) {
                Some(item) => item.clone(),
                None => continue,
            },
            // A model cannot be sent what it drew.
            Part::Media(_) | Part::Result(_) | Part::Citation(_) => continue,
        };
        flush(&mut texts, items);
        target.add_fields(&mut item, part.origin());
        items.push(item);
    }
    flush(&mut texts, items);
}

/// Reads the events of a response, or a complete response. Servers repeat content: an item at its end, and all items in
/// the last event. Only what did not arrive before is new.
#[derive(Debug, Default)]
pub(super) struct ResponsesParser {
    calls: Vec<StartedCall>,
    /// The last call of each item.
    of_item: HashMap<u64, usize>,
    /// The ids of the calls, with the empty one if a call has none.
    ids: HashSet<String>,
    texts: ReceivedText,
    /// Whether content has arrived before the last event, which repeats the whole response.
    has_content: bool,
    /// Whether reasoning has arrived that has no signature yet.
    unsigned_reasoning: bool,
    /// What the last content was.
    ends_with: LastContent,
    /// The item and the part of its content to which the last text belongs.
    last_text: (u64, u64),
    /// What of this part is not read.
    part_fields: Map<String, Value>,
    /// The sources that this part cites.
    part_sources: Vec<Delta>,
    /// The calls whose items have ended.
    ended: HashSet<usize>,
    /// The items that only the provider uses, by their ids and numbers.
    opaque: HashSet<String>,
}

/// The kind of the last content that has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastContent {
    Text,
    Thought,
    #[default]
    Other,
}

/// A call that has started.
#[derive(Debug, Default)]
struct StartedCall {
    id: String,
    /// The number of bytes of the arguments received.
    length: usize,
}

impl ResponsesParser {
    pub(super) fn read(&mut self, event: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let Some(kind) = event.get("type").and_then(Value::as_str) else {
            return self.complete_response(event, data);
        };
        let mut deltas = Vec::new();
        let index = event
            .get("output_index")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                let chunk = text(event, "/delta").filter(|chunk| !chunk.is_empty());
                let place = (index, event["content_index"].as_u64().unwrap_or(0));
                if chunk.is_some() {
                    self.begin_text(place, &mut deltas);
                }
                deltas.extend(chunk.map(|chunk| {
                    self.texts.add(index, chunk.len());
                    if kind == "response.refusal.delta" {
                        data.refusal.push_str(&chunk);
                    }
                    Delta::Text(chunk)
                }));
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.unsigned_reasoning = true;
                deltas.extend(text(event, "/delta").map(Delta::Thought));
            }
            "response.content_part.done" => {
                self.part_fields = message_items::part_fields(&event["part"]);
                self.part_sources = message_items::sources(&event["part"]);
                if let Some(id) = text(event, "/item_id") {
                    self.part_fields.insert("id".to_string(), id.into());
                }
            }
            "response.output_text.annotation.added" => {
                add_citations(Some(&Value::Array(vec![event["annotation"].clone()])), data);
            }
            "response.output_item.added" => self.start_item(index, &event["item"], &mut deltas),
            "response.function_call_arguments.delta" => {
                let chunk = text(event, "/delta").unwrap_or_default();
                let index = self.open_call(index);
                self.calls[index].length += chunk.len();
                deltas.push(call(index, None, None, chunk));
            }
            "response.output_item.done" => {
                let item = &event["item"];
                let full_text = full_text(item);
                self.texts.ended += full_text.len();
                self.rest_of_text(index, item, &full_text, self.texts.ended, data, &mut deltas);
                self.end_item(index, item, data, &mut deltas);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                data.closed = true;
                return self.complete_response(&event["response"], data);
            }
            _ => read_metadata(event.get("response").unwrap_or(&Value::Null), data),
        }
        self.has_content |= !deltas.is_empty();
        if let Some(last) = deltas.last() {
            self.ends_with = match last {
                Delta::Text(_) => LastContent::Text,
                Delta::Thought(_) => LastContent::Thought,
                _ => LastContent::Other,
            };
        }
        deltas
    }

    /// Reads the complete response. Content that arrived in chunks is not repeated.
    fn complete_response(&mut self, response: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let mut deltas = Vec::new();
        read_metadata(response, data);
        let has_failed = response
            .get("status")
            .is_some_and(|status| status == "failed");
        if has_failed || response.get("error").is_some_and(Value::is_object) {
            data.error.get_or_insert_with(|| response.clone());
        }
        let incomplete_reason =
            text(response, "/incomplete_details/reason").map(|reason| match &*reason {
                "max_output_tokens" => "length".to_string(),
                _ => reason,
            });
        data.finish = incomplete_reason.or_else(|| text(response, "/status"));
        // The results of Azure's filter.
        add_to_meta("content_filters", response.get("content_filters"), data);
        let items = response.get("output").and_then(Value::as_array);
        let items: Vec<_> = items
            .into_iter()
            .flatten()
            .map(|item| (item, full_text(item)))
            .collect();
        let all = items.iter().map(|(_, text)| text.len()).sum();
        let streamed = self.has_content;
        for (index, (item, full_text)) in (0..).zip(&items) {
            self.rest_of_text(index, item, full_text, all, data, &mut deltas);
            if !streamed {
                self.item_reasoning(item, &mut deltas);
                self.end_item(index, item, data, &mut deltas);
            } else if self.is_new_call(index, item) || is_opaque(item) {
                self.end_item(index, item, data, &mut deltas);
            } else if let Some(call) = self.unended_call(index, item) {
                deltas.extend(origins::needed_back(Some(call), call_fields(item)));
            }
        }
        if !self.calls.is_empty() && data.finish.as_deref() == Some("completed") {
            data.finish = Some("tool_calls".to_string());
        }
        deltas
    }

    /// Reads the text of a complete item that did not arrive in chunks.
    fn rest_of_text(
        &mut self,
        index: u64,
        item: &Value,
        full_text: &str,
        all: usize,
        data: &mut ResponseData,
        deltas: &mut Vec<Delta>,
    ) {
        let Some(rest) = self.texts.missing(index, full_text, all) else {
            return;
        };
        if chunks(item, "content").any(|chunk| chunk.get("refusal").is_some()) {
            data.refusal.push_str(&rest);
        }
        if rest.len() < full_text.len() {
            deltas.push(Delta::Text(rest));
            return;
        }
        for chunk in chunks(item, "content") {
            add_citations(chunk.get("annotations"), data);
        }
        message_items::read(item, deltas);
    }

    /// Reads the reasoning of an item that arrived complete.
    fn item_reasoning(&mut self, item: &Value, deltas: &mut Vec<Delta>) {
        if item.get("type").and_then(Value::as_str) == Some("reasoning") {
            let reasoning = chunks(item, "summary").chain(chunks(item, "content"));
            let reasoning = reasoning.filter_map(|chunk| text(chunk, "/text"));
            let before = deltas.len();
            deltas.extend(reasoning.map(Delta::Thought));
            self.unsigned_reasoning = deltas.len() > before;
        }
    }

    fn start_item(&mut self, index: u64, item: &Value, deltas: &mut Vec<Delta>) {
        if item.get("type").and_then(Value::as_str) == Some("function_call") {
            let (id, name) = (text(item, "/call_id"), text(item, "/name"));
            let index = self.call_index(index, id.as_deref());
            deltas.push(call(index, id, name, String::new()));
        }
    }

    /// Reads a complete item. Only content that did not arrive in chunks is new.
    fn end_item(
        &mut self,
        index: u64,
        item: &Value,
        data: &mut ResponseData,
        deltas: &mut Vec<Delta>,
    ) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let (id, name) = (text(item, "/call_id"), text(item, "/name"));
                let index = self.call_index(index, id.as_deref());
                let arguments = arguments_text(item.get("arguments"));
                let received = self.calls[index].length;
                let rest = arguments.get(received..).unwrap_or_default().to_string();
                self.calls[index].length += rest.len();
                deltas.push(call(index, id, name, rest));
                self.ended.insert(index);
                deltas.extend(origins::needed_back(Some(index), call_fields(item)));
            }
            Some(responses_computer::KIND) => {
                let id = text(item, "/call_id");
                let key = id.clone().unwrap_or_else(|| format!("item {index}"));
                if self.opaque.insert(key) {
                    let index = self.call_index(index, id.as_deref());
                    let (arguments, fields) = responses_computer::read(item);
                    let name = Some(ComputerUse::NAME.to_string());
                    deltas.push(call(index, id, name, arguments.to_string()));
                    deltas.extend(origins::needed_back(Some(index), fields));
                }
            }
            Some("message") if !is_opaque(item) => {
                for chunk in chunks(item, "content") {
                    add_to_meta("logprobs", chunk.get("logprobs"), data);
                }
                let has_text = match deltas.last() {
                    Some(last) => matches!(last, Delta::Text(_)),
                    None => self.ends_with == LastContent::Text,
                };
                if has_text {
                    let fields = message_items::end_fields(item);
                    deltas.extend(origins::needed_back(None, fields));
                    let last = chunks(item, "content")
                        .filter(|part| words(part).is_some())
                        .last();
                    deltas.extend(last.map(message_items::sources).unwrap_or_default());
                }
            }
            Some("reasoning") => {
                let visible = std::mem::take(&mut self.unsigned_reasoning);
                // Some servers end it after the answer.
                let is_last = match deltas.last() {
                    Some(last) => matches!(last, Delta::Thought(_)),
                    None => self.ends_with == LastContent::Thought,
                };
                let signature = text(item, "/encrypted_content").filter(|text| !text.is_empty());
                if let Some(signature) = signature {
                    deltas.push(if visible && is_last {
                        Delta::Signature(signature)
                    } else {
                        hidden_reasoning(signature)
                    });
                    let fields = origins::left_over(item, &["type", "encrypted_content"]);
                    deltas.extend(origins::needed_back(None, fields));
                } else if visible && chunks(item, "content").next().is_some() {
                    // A server that sends its reasoning in clear takes it back. OpenAI sends a summary only.
                    if !is_last {
                        deltas.push(origins::opaque(item.clone()));
                    }
                    deltas.extend(origins::needed_back(
                        None,
                        origins::left_over(item, &["type"]),
                    ));
                }
                let summary = item.get("summary").and_then(Value::as_array);
                let summary = summary.into_iter().flatten();
                let summary: Vec<_> = summary.filter_map(|one| text(one, "/text")).collect();
                data.reasoning = Some(Reasoning {
                    id: text(item, "/id"),
                    summary: summary.join("\n\n"),
                });
            }
            Some(_) => {
                let id = text(item, "/id").unwrap_or_else(|| format!("item {index}"));
                if self.opaque.insert(id) {
                    deltas.push(origins::opaque(item.clone()));
                }
            }
            None => {}
        }
    }

    /// The next text belongs to this item and this part of its content. Each part of a message is a part of its own.
    fn begin_text(&mut self, place: (u64, u64), deltas: &mut Vec<Delta>) {
        let last = std::mem::replace(&mut self.last_text, place);
        if self.ends_with == LastContent::Text && last.0 == place.0 && last.1 != place.1 {
            let fields = std::mem::take(&mut self.part_fields);
            deltas.push(origins::needed_back(None, fields).unwrap_or_else(origins::end_of_text));
            deltas.append(&mut self.part_sources);
        }
        self.part_fields.clear();
        self.part_sources.clear();
    }

    /// The call that takes a piece of arguments of this item. Some servers give the pieces another number than the call: then
    /// it is the last call, if none of its arguments has arrived.
    fn open_call(&mut self, item: u64) -> usize {
        let last = self.calls.len().checked_sub(1);
        let last = last.filter(|last| self.calls[*last].length == 0);
        match last.filter(|_| !self.of_item.contains_key(&item)) {
            Some(last) => {
                self.of_item.insert(item, last);
                last
            }
            None => self.call_index(item, None),
        }
    }

    /// The call in this item, if the item has not ended.
    fn unended_call(&mut self, index: u64, item: &Value) -> Option<usize> {
        let is_call = item.get("type").and_then(Value::as_str) == Some("function_call");
        let id = text(item, "/call_id").filter(|_| is_call)?;
        let call = self.started_call(index, &id)?;
        self.ended.insert(call).then_some(call)
    }

    /// Whether the item is a call of which nothing has arrived.
    fn is_new_call(&self, index: u64, item: &Value) -> bool {
        let id = text(item, "/call_id").unwrap_or_default();
        item.get("type").and_then(Value::as_str) == Some("function_call")
            && !self.ids.contains(&id)
            && self.started_call(index, &id).is_none()
    }

    /// The index of the call with this id in the item with this number, added if it is missing. The id may be unknown.
    fn call_index(&mut self, item: u64, id: Option<&str>) -> usize {
        let id = id.unwrap_or_default();
        let index = self.started_call(item, id).unwrap_or_else(|| {
            self.calls.push(StartedCall::default());
            self.calls.len() - 1
        });
        self.of_item.insert(item, index);
        let call = &mut self.calls[index];
        if call.id.is_empty() {
            call.id = id.to_string();
            self.ids.insert(call.id.clone());
        }
        index
    }

    /// The call of this item, unless it has another id: some servers give every item the same number.
    fn started_call(&self, item: u64, id: &str) -> Option<usize> {
        let index = *self.of_item.get(&item)?;
        let known = &self.calls[index].id;
        (id.is_empty() || known.is_empty() || known == id).then_some(index)
    }
}

/// What a call has beside what is read.
fn call_fields(item: &Value) -> Map<String, Value> {
    origins::left_over(item, &["type", "call_id", "name", "arguments"])
}

fn read_metadata(response: &Value, data: &mut ResponseData) {
    data.id = data.id.take().or_else(|| text(response, "/id"));
    data.model = data.model.take().or_else(|| text(response, "/model"));
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        data.usage = usage::openai(usage);
    }
}

fn call(index: usize, id: Option<String>, name: Option<String>, arguments: String) -> Delta {
    Delta::Call {
        index,
        id,
        name,
        arguments,
    }
}
