//! OpenAI's chat completions and their variants: ids that arrive late, twice or never, calls without an index,
//! arguments that are objects.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::call_ids::CallIds;
use super::chat_opaque::{
    ANNOTATIONS, DETAILS, FIELD, PROMPT_FILTER, READ, REASONING, add_filter_results, add_opaque,
    image, join_field,
};
use super::chat_pieces::{call_left_over, error_in, is_empty, typed_chunks, typed_content};
use super::citations;
use super::content::{
    arguments_object, call_name, data_url, decimal, effort_level, result_text, split_result,
    unsupported, user_message, with_extra,
};
use super::open_calls::Arguments;
use super::origins;
use super::response_data::{ResponseData, add_citations, add_to_meta, arguments_text, text};
use super::schemas::{Schemas, SentSchema};
use super::usage;
use crate::message::{Media, MediaSource};
use crate::provider::catalog::{Reasoning, Target};
use crate::provider::content_filter;
use crate::request::{Effort, ToolChoice};
use crate::stream::Delta;
use crate::{ChatMessage, LlmError, LlmRequest, Part, Role};

/// The body of a request.
pub(super) fn body(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Schemas,
) -> Result<Value, LlmError> {
    let quirks = &target.quirks;
    let mut body = json!({ "model": target.model, "messages": messages(target, request)? });
    if target.streaming {
        body["stream"] = true.into();
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !request.tools.is_empty() {
        body["tools"] = tools(target, request, schemas.tools);
        if !target.capabilities.parallel_calls {
            body["parallel_tool_calls"] = false.into();
        }
        if let Some(choice) = tool_choice(&request.tool_choice) {
            body["tool_choice"] = choice;
        }
    }
    if let Some(sent) = schemas.answer {
        // Compatible servers enforce the schema, and accept more of it than OpenAI's strict mode.
        let strict = sent.strict || !target.capabilities.strict_schemas;
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": { "name": "answer", "strict": strict, "schema": sent.schema },
        });
    }
    if target.json_mode {
        body["response_format"] = json!({ "type": "json_object" });
    }
    if let Some(effort) = request.effort {
        let is_off = matches!(effort, Effort::None | Effort::Minimal);
        if quirks.thinking_switch {
            let switch = if is_off { "disabled" } else { "enabled" };
            body["thinking"] = json!({ "type": switch });
        }
        if !(is_off && quirks.thinking_switch) {
            body["reasoning_effort"] = effort_level(effort).into();
        }
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = decimal(temperature).into();
    }
    if let Some(top_p) = request.top_p {
        body["top_p"] = decimal(top_p).into();
    }
    if !request.stop.is_empty() {
        body["stop"] = request.stop.clone().into();
    }
    if let Some(seed) = request.seed {
        body[quirks.seed] = seed.into();
    }
    if let Some(most) = request.max_tokens {
        // OpenAI's models that reason reject the older name, and other servers do not know the newer one.
        let name = if quirks.newer_limit && target.capabilities.reasoning {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body[name] = most.into();
    }
    Ok(with_extra(body, request))
}

fn tools(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: impl IntoIterator<Item = SentSchema>,
) -> Value {
    let tools = request.tools.iter().zip(schemas).map(|(tool, sent)| {
        let mut function = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": sent.schema,
        });
        if target.capabilities.strict_schemas {
            function["strict"] = sent.strict.into();
        }
        json!({ "type": "function", "function": function })
    });
    tools.collect()
}

/// `None` leaves the choice to the model.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "function": { "name": name } })),
    }
}

/// The messages in order: system, instructions, conversation, input.
fn messages(target: &Target<'_>, request: &LlmRequest) -> Result<Vec<Value>, LlmError> {
    let system = |text: &String| json!({ "role": "system", "content": text });
    let first = request.system.iter().chain(&request.instructions);
    let mut messages: Vec<_> = first.map(system).collect();
    let mut ids = CallIds::default();
    for message in request.messages.iter() {
        match message.role {
            Role::System => messages.push(system(&message.text())),
            Role::User => messages.extend(user_message(target, message, "text", media_part)?),
            Role::Assistant => {
                ids.new_turn();
                messages.push(assistant_message(target, message, &mut ids)?);
            }
            Role::Tool => tool_messages(target, message, &mut ids, &mut messages)?,
        }
    }
    let input = request.input_text.iter();
    messages.extend(input.map(|text| json!({ "role": "user", "content": text })));
    Ok(messages)
}

/// The results of tools, one message each. This format has media in messages of the user only.
fn tool_messages(
    target: &Target<'_>,
    message: &ChatMessage,
    ids: &mut CallIds,
    messages: &mut Vec<Value>,
) -> Result<(), LlmError> {
    let mut media = Vec::new();
    for result in message.tool_results() {
        let sent = split_result(result, |media| {
            target.takes(media) && media_part(media).is_ok()
        });
        messages.push(json!({
            "role": "tool",
            "tool_call_id": ids.for_result(result),
            "content": result_text(&sent.content, result.is_error),
        }));
        if !sent.media.is_empty() {
            let text = format!("Attached to the result of the tool `{}`:", result.name);
            media.push(json!({ "type": "text", "text": text }));
        }
        for one in &sent.media {
            media.push(media_part(one)?);
        }
    }
    if !media.is_empty() {
        messages.push(json!({ "role": "user", "content": media }));
    }
    Ok(())
}

fn media_part(media: &Media) -> Result<Value, LlmError> {
    let (kind, format) = media.media_type.split_once('/').unwrap_or_default();
    match (kind, &media.source) {
        ("image", _) => Ok(json!({ "type": "image_url", "image_url": { "url": data_url(media) } })),
        ("video", _) => Ok(json!({ "type": "video_url", "video_url": { "url": data_url(media) } })),
        ("audio", MediaSource::Base64(data)) => {
            let format = if format == "mpeg" { "mp3" } else { format };
            Ok(json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } }))
        }
        (_, MediaSource::Base64(_)) => Ok(json!({
            "type": "file",
            "file": { "filename": format!("file.{format}"), "file_data": data_url(media) },
        })),
        (_, MediaSource::Url(_)) => Err(unsupported(media, "load it, and send its data as base64")),
    }
}

fn assistant_message(
    target: &Target<'_>,
    message: &ChatMessage,
    ids: &mut CallIds,
) -> Result<Value, LlmError> {
    let (mut content, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    let mut sent = json!({ "role": "assistant" });
    let mut field = "reasoning_content";
    let mut images = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => content.push_str(&text.text),
            Part::Thought(thought) => {
                reasoning.push_str(&thought.text);
                let own = part.origin().filter(|origin| target.owns(Some(origin)));
                if own.is_some_and(|origin| origin.fields.get(FIELD) == Some(&REASONING.into())) {
                    field = REASONING;
                }
            }
            Part::Call(call) => {
                let mut call_sent = json!({
                    "id": ids.for_call(call),
                    "type": "function",
                    "function": {
                        "name": call_name(&call.name),
                        "arguments": arguments_object(&call.arguments).to_string(),
                    },
                });
                target.add_fields(&mut call_sent, part.origin());
                calls.push(call_sent);
            }
            Part::Code { .. } | Part::CodeResult { .. } => {
                content.extend(part.code_as_text());
            }
            // Another model cannot be sent what a model drew.
            Part::Media(media) if media.origin.is_some() && target.owns(part.origin()) => {
                images.push(media_part(media)?);
            }
            Part::Provider { .. } => add_opaque(&mut sent, target.opaque(part), &target.quirks),
            Part::Media(_) | Part::Result(_) | Part::Citation(_) => {}
        }
    }
    sent["content"] = content.as_str().into();
    match target.quirks.reasoning {
        // They have the reasoning, with its signatures.
        _ if sent.get(DETAILS).is_some() => {}
        Reasoning::Field if !reasoning.is_empty() => sent[field] = reasoning.into(),
        Reasoning::Part => {
            if let Some(chunks) = typed_chunks(target, message) {
                sent["content"] = chunks;
            }
        }
        _ => {}
    }
    if !images.is_empty() {
        sent["images"] = images.into();
    }
    if !calls.is_empty() {
        sent["tool_calls"] = calls.into();
    }
    Ok(sent)
}

/// Reads the chunks of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct ChatParser {
    calls: Vec<StartedCall>,
    /// The last call with each index that the provider gave.
    with_index: HashMap<u64, usize>,
    /// The last call with each id.
    with_id: HashMap<String, usize>,
    /// Whether reasoning arrived in the field `reasoning`.
    sends_reasoning: bool,
    /// The fields of the message that only the provider uses.
    opaque: Map<String, Value>,
}

/// The length from which a name is not continued, in bytes. The names of tools are shorter.
const MAX_NAME: usize = 512;

/// A call that has started.
#[derive(Debug, Default)]
struct StartedCall {
    id: String,
    /// The name so far: some servers send it in pieces, and some send all of it with each piece of the arguments.
    name: String,
    arguments: Arguments,
}

impl ChatParser {
    pub(super) fn read(&mut self, frame: &Value, data: &mut ResponseData) -> Vec<Delta> {
        data.id = data.id.take().or_else(|| text(frame, "/id"));
        data.model = data.model.take().or_else(|| text(frame, "/model"));
        let usage = frame.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage.or_else(|| frame.pointer("/x_groq/usage")) {
            data.usage = usage::openai(usage);
        }
        add_to_meta(PROMPT_FILTER, frame.get(PROMPT_FILTER), data);
        let choices = frame.get("choices").and_then(Value::as_array);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.into_iter().flatten().find(first) else {
            return Vec::new();
        };
        if let Some(error) = error_in(choice) {
            data.error.get_or_insert(error);
            return Vec::new();
        }
        let reason = text(choice, "/finish_reason").filter(|reason| !reason.is_empty());
        data.finish = reason.or_else(|| data.finish.take());
        add_to_meta("logprobs", choice.pointer("/logprobs/content"), data);
        add_filter_results(choice.get(content_filter::RESULTS), data);
        match (choice.get("delta"), choice.get("message")) {
            (Some(message @ Value::Object(_)), _) => self.message(message, false, data),
            (_, Some(message @ Value::Object(_))) => self.message(message, true, data),
            _ => Vec::new(),
        }
    }

    fn message(
        &mut self,
        message: &Value,
        is_complete: bool,
        data: &mut ResponseData,
    ) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let reasoning = text(message, "/reasoning_content").or_else(|| {
            let reasoning = text(message, "/reasoning").filter(|text| !text.is_empty());
            self.sends_reasoning |= reasoning.is_some();
            reasoning
        });
        deltas.extend(reasoning.map(Delta::Thought));
        for (name, value) in origins::left_over(message, &READ) {
            // Servers send an empty list with each piece.
            if !is_empty(&value) {
                join_field(self.opaque.entry(name).or_insert(Value::Null), &value);
            }
        }
        match message.get("content") {
            Some(Value::String(text)) => deltas.push(Delta::Text(text.clone())),
            Some(Value::Array(chunks)) => chunks
                .iter()
                .for_each(|chunk| typed_content(chunk, &mut deltas)),
            _ => {}
        }
        if let Some(words) = text(message, "/refusal") {
            data.refusal.push_str(&words);
            deltas.push(Delta::Text(words));
        }
        add_citations(message.get("annotations"), data);
        let images = message.get("images").and_then(Value::as_array);
        deltas.extend(images.into_iter().flatten().filter_map(image));
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let Some(delta) = self.call(call, is_complete) else {
                continue;
            };
            let index = match &delta {
                Delta::Call { index, .. } => Some(*index),
                _ => None,
            };
            deltas.push(delta);
            deltas.extend(origins::needed_back(index, call_left_over(call)));
        }
        // The older format, which allows only one call.
        let function_call = message.get("function_call").filter(|call| call.is_object());
        deltas.extend(
            function_call.and_then(|function| self.chunk(Some(0), None, function, is_complete)),
        );
        deltas.retain(
            |delta| !matches!(delta, Delta::Text(text) | Delta::Thought(text) if text.is_empty()),
        );
        deltas
    }

    /// What the provider needs back with a thought.
    pub(super) fn with_thoughts(&self) -> Map<String, Value> {
        let field = self
            .sends_reasoning
            .then(|| (FIELD.to_string(), REASONING.into()));
        field.into_iter().collect()
    }

    /// The fields of the message that only the provider uses. They are complete at the end.
    pub(super) fn rest(&mut self) -> Vec<Delta> {
        let fields = std::mem::take(&mut self.opaque);
        let cited = fields.get(ANNOTATIONS).map(citations::of_chat_annotations);
        let fields = fields.into_iter();
        let fields = fields.map(|(name, value)| origins::opaque(json!({ name: value })));
        cited.into_iter().flatten().chain(fields).collect()
    }

    fn call(&mut self, call: &Value, is_complete: bool) -> Option<Delta> {
        let index = call.get("index").and_then(Value::as_u64);
        self.chunk(index, text(call, "/id"), call.get("function")?, is_complete)
    }

    /// A chunk of a call, or a complete call.
    fn chunk(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
        function: &Value,
        is_complete: bool,
    ) -> Option<Delta> {
        let id = id.filter(|id| !id.is_empty());
        let name = text(function, "/name").filter(|name| !name.is_empty());
        let arguments = arguments_text(function.get("arguments"));
        let existing = if id.is_none() && name.is_none() && !arguments.is_empty() {
            self.find_open(index)
        } else {
            self.find(index, id.as_deref(), name.is_some())
        };
        let call_index = match existing.filter(|_| !is_complete) {
            Some(existing) => existing,
            // The chunk is empty.
            None if id.is_none() && name.is_none() && arguments.is_empty() => return None,
            None => {
                self.calls.push(StartedCall::default());
                self.calls.len() - 1
            }
        };
        if let Some(index) = index {
            self.with_index.insert(index, call_index);
        }
        let call = &mut self.calls[call_index];
        if let Some(id) = id.as_ref().filter(|_| call.id.is_empty()) {
            call.id.clone_from(id);
            self.with_id.insert(id.clone(), call_index);
        }
        let name = name.and_then(|name| call.new_name(name));
        call.arguments.push(&arguments);
        Some(Delta::Call {
            index: call_index,
            id,
            name,
            arguments,
        })
    }

    /// The call that takes a piece of arguments without an id and a name. Some servers give the pieces another index than
    /// the call: then it is a call that has begun no arguments, or the last one.
    fn find_open(&self, index: Option<u64>) -> Option<usize> {
        let named = self.find(index, None, false);
        let is_open = |call: &usize| !self.calls[*call].arguments.is_whole();
        let begins = || {
            let mut calls = self.calls.iter();
            calls.position(|call| !call.name.is_empty() && call.arguments.is_empty())
        };
        let last = || self.calls.len().checked_sub(1).filter(is_open);
        named
            .filter(is_open)
            .or_else(begins)
            .or_else(last)
            .or(named)
    }

    /// The call that a chunk continues. Some providers give every call the index 0, and distinguish calls by id, also where
    /// their chunks are interleaved. Others give each chunk of a call another id.
    fn find(&self, index: Option<u64>, id: Option<&str>, named: bool) -> Option<usize> {
        let of_id = || self.with_id.get(id?).copied();
        let Some(index) = index else {
            return match id {
                Some(_) => of_id(),
                None if named => None,
                None => self.calls.len().checked_sub(1),
            };
        };
        let Some(found) = self.with_index.get(&index).copied() else {
            // The same id with another index is another call, unless the chunk only continues one.
            return of_id().filter(|_| !named);
        };
        let known = &self.calls[found].id;
        match id {
            Some(id) if !known.is_empty() && known != id => of_id().or((!named).then_some(found)),
            _ => Some(found),
        }
    }
}

impl StartedCall {
    /// The name with this piece of it, unless it is the same as before.
    fn new_name(&mut self, piece: String) -> Option<String> {
        if piece == self.name {
            return None;
        }
        if !self.arguments.is_empty() || piece.starts_with(&self.name) {
            self.name = piece;
        } else if self.name.len() < MAX_NAME {
            self.name.push_str(&piece);
        } else {
            return None;
        }
        Some(self.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LlmResponse;
    use crate::stream::StreamAccumulator;

    fn calls(chunks: &[Value]) -> Vec<(String, String, Value)> {
        let (mut parser, mut accumulator) = (ChatParser::default(), StreamAccumulator::new());
        for chunk in chunks {
            let frame = json!({"choices": [{"delta": {"tool_calls": [chunk]}}]});
            let deltas = parser.read(&frame, &mut ResponseData::default());
            deltas.iter().for_each(|delta| accumulator.push(delta));
        }
        let accumulator = accumulator.finish(LlmResponse::default());
        accumulator
            .calls()
            .map(|call| (call.id.clone(), call.name.clone(), call.arguments.clone()))
            .collect()
    }

    fn call(id: &str, name: &str, n: u64) -> (String, String, Value) {
        (id.to_string(), name.to_string(), json!({"n": n}))
    }

    #[test]
    fn pieces_find_their_call_whatever_the_server_leaves_out() {
        let both = [call("a", "x", 1), call("b", "y", 2)];
        let start = |index: Value, id: Value, name: &str, text: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": text}});
        let next = |index: Value, id: Value, text: &str| json!({"index": index, "id": id, "function": {"arguments": text}});
        let null = Value::Null;
        for chunks in [
            // The standard form, with a gap between the indexes.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                start(json!(7), json!("b"), "y", "{\"n\""),
                next(json!(0), null.clone(), ": 1}"),
                next(json!(7), null.clone(), ": 2}"),
            ],
            // Later ids are empty.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                next(json!(0), json!(""), ": 1}"),
                start(json!(1), json!("b"), "y", "{\"n\""),
                next(json!(1), json!(""), ": 2}"),
            ],
            // No indexes.
            vec![
                start(null.clone(), json!("a"), "x", "{\"n\""),
                next(null.clone(), null.clone(), ": 1}"),
                start(null.clone(), json!("b"), "y", "{\"n\""),
                next(null.clone(), json!("b"), ": 2}"),
            ],
            // Every index is 0.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\": 1}"),
                start(json!(0), json!("b"), "y", "{\"n\": 2}"),
            ],
            // Every index is 0, and the calls are interleaved: later chunks have an id and no name.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                start(json!(0), json!("b"), "y", "{\"n\""),
                next(json!(0), json!("a"), ": 1}"),
                next(json!(0), json!("b"), ": 2}"),
            ],
            // The same, with the name in each chunk.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                start(json!(0), json!("b"), "y", "{\"n\""),
                start(json!(0), json!("a"), "x", ": 1}"),
                start(json!(0), json!("b"), "y", ": 2}"),
            ],
        ] {
            assert_eq!(calls(&chunks), both, "{chunks:?}");
        }
        let same_id = [
            start(json!(0), json!("a"), "x", "{\"n\": 1}"),
            start(json!(1), json!("a"), "y", "{\"n\": 2}"),
        ];
        assert_eq!(calls(&same_id), [call("a", "x", 1), call("a", "y", 2)]);
        let no_id = [
            json!({"function": {"name": "x", "arguments": {"n": 1}}}),
            json!({"function": {"name": "y", "arguments": {"n": 2}}}),
        ];
        assert_eq!(calls(&no_id), [call("", "x", 1), call("", "y", 2)]);
    }

    #[test]
    fn names_may_come_in_pieces_or_repeatedly() {
        let piece = |name: &str, text: &str| json!({"index": 0, "function": {"name": name, "arguments": text}});
        for chunks in [
            [piece("sea", ""), piece("rch", ""), piece("", "{\"n\": 1}")],
            [
                piece("search", ""),
                piece("search", "{\"n\": "),
                piece("search", "1}"),
            ],
            [
                piece("search", "{"),
                piece("search", "\"n\": 1"),
                piece("", "}"),
            ],
        ] {
            assert_eq!(calls(&chunks), [call("", "search", 1)], "{chunks:?}");
        }
    }
}
