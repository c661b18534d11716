//! Helpers that write requests.

use serde_json::{Map, Value, json};

use crate::message::{Media, MediaSource};
use crate::provider::catalog::Target;
use crate::request::Effort;
use crate::{ChatMessage, LlmError, LlmRequest, Part, Role};
use petalflow::tool::ToolResult;

/// The number as it was written: 0.7 as an `f32` is 0.699999988 as an `f64`.
pub(super) fn decimal(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// The result of a tool as a provider is sent it: media apart from the rest.
#[derive(Debug)]
pub(super) struct SentResult {
    /// The result, with a note in place of each medium.
    pub(super) content: Value,
    pub(super) media: Vec<Media>,
}

/// Takes the media out of a result: the blocks that [`Media::to_block`] writes, as MCP's tools do.
///
/// Media of a type that the provider does not take become a note: the model reads that they exist, and gets no data as text.
pub(super) fn split_result(result: &ToolResult, takes: impl Fn(&Media) -> bool) -> SentResult {
    let (mut content, mut media) = (result.content.clone(), Vec::new());
    Media::take_each(&mut content, &mut |medium| {
        let shown = takes(&medium);
        media.extend(Some(medium).filter(|_| shown));
        let note = if shown {
            "attached"
        } else {
            "not shown: this provider does not take it"
        };
        note.into()
    });
    SentResult { content, media }
}

/// A result as text. The text of an error always says that it is an error.
pub(super) fn result_text(content: &Value, is_error: bool) -> String {
    match (content, is_error) {
        (Value::String(text), false) => text.clone(),
        (Value::Object(object), true) if object.contains_key("error") => content.to_string(),
        (content, true) => json!({ "error": content }).to_string(),
        (content, false) => content.to_string(),
    }
}

/// Arguments as an object, the only form that providers accept. The model sees its own arguments, and the tool result
/// describes the error.
pub(super) fn arguments_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(arguments) => Value::Object(arguments.clone()),
        Value::Null => Value::Object(Map::new()),
        other => json!({ "invalid": other }),
    }
}

/// The name of a call as providers take it. A call that came without a name was not made, and the model reads why in its
/// result.
pub(super) fn call_name(name: &str) -> &str {
    if is_blank(name) { "unknown" } else { name }
}

/// A conversation for a format whose only place for instructions is before it.
#[derive(Debug)]
pub(super) struct Dialogue<'m> {
    /// The instructions: those of the request, and the system messages at the start of the conversation.
    pub(super) system: Vec<String>,
    pub(super) turns: Vec<Turn<'m>>,
}

/// A turn of a [`Dialogue`].
#[derive(Debug)]
pub(super) enum Turn<'m> {
    Message(&'m ChatMessage),
    /// A later system message: text for a message from the user, which says that it is an instruction.
    Instruction(String),
}

impl<'m> Dialogue<'m> {
    /// Later system messages keep their place, because they refer to it. The results of calls come directly after the calls:
    /// an instruction between them follows the results.
    pub(super) fn of(request: &'m LlmRequest) -> Self {
        let messages = &**request.messages;
        let is_system = |message: &ChatMessage| message.role == Role::System;
        let start = messages.iter().take_while(|message| is_system(message));
        let mut start = start.count();
        // A conversation begins with a message from the user.
        if start == messages.len() && request.input_text.is_none() {
            start = start.saturating_sub(1);
        }
        let (start, rest) = messages.split_at(start);
        let first = request.system.iter().chain(&request.instructions).cloned();
        let system = first.chain(start.iter().map(ChatMessage::text));
        let mut turns = Vec::with_capacity(rest.len());
        let mut held = Vec::new();
        for message in rest {
            if is_system(message) {
                held.push(Turn::Instruction(instruction(&message.text())));
                continue;
            }
            if message.role != Role::Tool {
                turns.append(&mut held);
            }
            turns.push(Turn::Message(message));
        }
        turns.append(&mut held);
        Dialogue {
            system: system.filter(|text| !is_blank(text)).collect(),
            turns,
        }
    }
}

fn instruction(text: &str) -> String {
    format!("<system>\n{text}\n</system>")
}

/// Whether a text has only white space, which some providers refuse.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A message from the user in OpenAI's formats: text, or parts if there are several. `None` if nothing in it can be sent.
///
/// The two formats have different names for parts of text, and different parts for media.
pub(super) fn user_message(
    target: &Target<'_>,
    message: &ChatMessage,
    text_type: &str,
    media_part: impl Fn(&Media) -> Result<Value, LlmError>,
) -> Result<Option<Value>, LlmError> {
    let text_part = |text: &str| json!({ "type": text_type, "text": text });
    let mut parts = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        match part {
            Part::Text(text) => parts.push(text_part(&text.text)),
            Part::Media(media) => parts.push(media_part(media)?),
            // Only Gemini accepts code as code.
            Part::Code { .. } | Part::CodeResult { .. } => {
                parts.extend(part.code_as_text().map(|text| text_part(&text)));
            }
            Part::Provider { .. } => parts.extend(target.opaque(part).cloned()),
            Part::Thought(_) | Part::Call(_) | Part::Result(_) | Part::Citation(_) => {}
        }
    }
    let content = match &mut *parts {
        [] => return Ok(None),
        [only] if only["type"] == text_type => only["text"].take(),
        _ => parts.into(),
    };
    Ok(Some(json!({ "role": "user", "content": content })))
}

/// The URL of the media: its own, or one that contains the data.
pub(super) fn data_url(media: &Media) -> String {
    match &media.source {
        MediaSource::Url(url) => url.clone(),
        MediaSource::Base64(data) => format!("data:{};base64,{data}", media.media_type),
    }
}

/// The error for media that the family cannot send.
pub(super) fn unsupported(media: &Media, instead: &str) -> LlmError {
    LlmError::request(format!(
        "this provider accepts no media of type `{}` {}; {instead}",
        media.media_type,
        match &media.source {
            MediaSource::Url(_) => "by URL",
            MediaSource::Base64(_) => "as data",
        }
    ))
}

/// A level of reasoning, for providers without a number of tokens.
pub(super) fn effort_level(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::XHigh => "xhigh",
        Effort::Budget(tokens) => match tokens {
            0 => "minimal",
            1..=2_048 => "low",
            2_049..=16_384 => "medium",
            _ => "high",
        },
    }
}

/// A number of tokens for reasoning, for providers without levels.
pub(super) fn effort_tokens(effort: Effort) -> u32 {
    match effort {
        Effort::None => 0,
        Effort::Minimal | Effort::Low => 1_024,
        Effort::Medium => 8_000,
        Effort::High | Effort::XHigh => 24_000,
        Effort::Budget(tokens) => tokens,
    }
}

/// Adds the request's options for this provider. Objects are merged, lists are appended, and other values replaced: the
/// tools of a provider stand beside those of the program.
pub(super) fn with_extra(mut body: Value, request: &LlmRequest) -> Value {
    for (name, value) in &request.extra {
        merge(&mut body[name.as_str()], value);
    }
    body
}

/// Adds the fields of an object to another one, and the items of a list. Other values are replaced.
pub(crate) fn merge(into: &mut Value, value: &Value) {
    match (into, value) {
        (Value::Object(into), Value::Object(value)) => {
            for (name, value) in value {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(value)) => into.extend(value.iter().cloned()),
        (into, value) => *into = value.clone(),
    }
}
