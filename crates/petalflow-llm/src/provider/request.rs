//! Conversion of a request into the types of the `genai` library.

use genai::adapter::AdapterKind;
use genai::chat::{self, ChatOptions, ChatRequest, ContentPart, JsonSpec, ReasoningEffort};
use serde_json::{Value, json};

use super::call_format::{CallIds, arguments_object};
use super::gemini_contents::contents;
use super::wire::REDACTED;
use crate::{ChatMessage, Effort, LlmRequest, Media, MediaSource, Part, Role, Text, ToolChoice};
use petalflow::tool::{ToolCall, ToolResult};

/// The provider and the model of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTarget<'a> {
    pub(super) kind: AdapterKind,
    pub(super) model: &'a str,
    /// Whether the provider accepts earlier reasoning. Some require it, some reject it.
    pub(super) accepts_reasoning: bool,
}

/// The messages in order (system, instructions, messages, input), and the tools.
pub(super) fn chat(target: RequestTarget<'_>, request: &LlmRequest) -> ChatRequest {
    let instructions = request.instructions.as_deref();
    let mut messages: Vec<_> = instructions
        .map(chat::ChatMessage::system)
        .into_iter()
        .collect();
    let mut ids = CallIds::default();
    for one in request.messages.iter() {
        // For Gemini, the other messages are in the options.
        if target.kind != AdapterKind::Gemini || one.role == Role::System {
            message(target, one, &mut ids, &mut messages);
        }
    }
    let input = request.input_text.as_deref();
    let input = input.filter(|_| target.kind != AdapterKind::Gemini);
    messages.extend(input.map(chat::ChatMessage::user));
    let mut chat = ChatRequest::from_messages(messages);
    chat.system.clone_from(&request.system);
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.iter().map(|tool| {
            chat::Tool::new(chat::ToolName::Custom(tool.name.clone()))
                .with_description(tool.description.as_str())
                .with_schema(tool.parameters.clone())
        }));
    }
    chat
}

/// The options of the request.
pub(super) fn options(target: RequestTarget<'_>, request: &LlmRequest) -> ChatOptions {
    // Anthropic requires its signed reasoning back. Gemini returns reasoning only on request.
    let capture_reasoning = target.kind != AdapterKind::Gemini || request.effort.is_some();
    let mut options = ChatOptions::default().with_capture_reasoning_content(capture_reasoning);
    options.temperature = request.temperature.map(as_decimal);
    options.top_p = request.top_p.map(as_decimal);
    options.max_tokens = request.max_tokens;
    options.stop_sequences.clone_from(&request.stop);
    options.seed = request.seed;
    options.reasoning_effort = request.effort.map(|effort| match effort {
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::Budget(tokens) => ReasoningEffort::Budget(tokens),
    });
    options.response_format = request
        .json_schema
        .as_ref()
        .map(|schema| JsonSpec::new("answer", Value::clone(schema)).into());
    // Providers reject a tool choice without tools.
    options.tool_choice = match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some(chat::ToolChoice::None),
        ToolChoice::Required => Some(chat::ToolChoice::Required),
        ToolChoice::Tool(name) => Some(chat::ToolChoice::tool(name)),
    };
    let mut extra = request.extra.clone();
    if target.kind == AdapterKind::Gemini {
        let contents = || contents(target.model, request);
        extra.entry("contents").or_insert_with(contents);
    }
    options.extra_body = (!extra.is_empty()).then_some(Value::Object(extra));
    options
}

/// Converts through text, because 0.7 as an `f32` is 0.699999988 as an `f64`.
fn as_decimal(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// Adds a message, unless the provider accepts none of its parts.
fn message(
    target: RequestTarget<'_>,
    message: &ChatMessage,
    ids: &mut CallIds,
    messages: &mut Vec<chat::ChatMessage>,
) {
    let role = match message.role {
        Role::System => chat::ChatRole::System,
        Role::User => chat::ChatRole::User,
        Role::Assistant => chat::ChatRole::Assistant,
        Role::Tool => chat::ChatRole::Tool,
    };
    if message.role == Role::Assistant {
        ids.new_turn();
    }
    let mut parts = Vec::with_capacity(message.parts.len());
    for one in &message.parts {
        part(target, message.role, one, ids, &mut parts);
    }
    // For some providers, the library sends only the last of several results in a message.
    let one_per_message = message.role == Role::Tool && target.kind == AdapterKind::OllamaCloud;
    let per_message = if one_per_message {
        1
    } else {
        parts.len().max(1)
    };
    let mut parts = parts.into_iter().peekable();
    while parts.peek().is_some() {
        let chunk: Vec<_> = parts.by_ref().take(per_message).collect();
        messages.push(chat::ChatMessage::new(role.clone(), chunk));
    }
}

fn part(
    target: RequestTarget<'_>,
    role: Role,
    part: &Part,
    ids: &mut CallIds,
    parts: &mut Vec<ContentPart>,
) {
    let anthropic = target.kind == AdapterKind::Anthropic;
    match part {
        Part::Text(Text { text, signature }) => {
            parts.extend(signature.clone().map(ContentPart::ThoughtSignature));
            parts.push(ContentPart::Text(text.clone()));
        }
        Part::Thought(Text { text, signature }) => {
            let redacted = signature.as_deref();
            if let Some(data) = redacted.and_then(|signature| signature.strip_prefix(REDACTED)) {
                if anthropic {
                    let block = json!({"type": "redacted_thinking", "data": data});
                    parts.push(ContentPart::from_custom(block, None));
                }
                return;
            }
            if target.accepts_reasoning {
                parts.extend(signature.clone().map(ContentPart::ThoughtSignature));
                parts.push(ContentPart::ReasoningContent(text.clone()));
            }
        }
        Part::Call(call) => parts.push(ContentPart::ToolCall(tool_call(call, ids.for_call(call)))),
        Part::Result(result) => {
            let id = ids.for_result(result);
            parts.push(if anthropic && result.is_error {
                let block = json!({
                    "type": "tool_result",
                    "tool_use_id": id,
                    "content": result_text(result),
                    "is_error": true,
                });
                ContentPart::from_custom(block, None)
            } else {
                let response = chat::ToolResponse::new(id, result_text(result));
                ContentPart::ToolResponse(response.with_fn_name(&result.name))
            });
        }
        // The library omits images that Anthropic loads from a URL.
        Part::Media(Media {
            media_type,
            source: MediaSource::Url(url),
        }) if anthropic && role == Role::User && media_type.starts_with("image/") => {
            let block = json!({"type": "image", "source": {"type": "url", "url": url}});
            parts.push(ContentPart::from_custom(block, None));
        }
        Part::Media(Media { media_type, source }) => {
            parts.push(ContentPart::Binary(match source {
                MediaSource::Url(url) => chat::Binary::from_url(media_type, url, None),
                MediaSource::Base64(data) => {
                    chat::Binary::from_base64(media_type, data.as_str(), None)
                }
            }));
        }
        // Other providers accept code only as text.
        Part::Code { .. } | Part::CodeResult { .. } => {
            parts.extend(part.code_as_text().map(ContentPart::Text));
        }
    }
}

fn tool_call(call: &ToolCall, id: String) -> chat::ToolCall {
    chat::ToolCall {
        call_id: id,
        fn_name: call.name.clone(),
        fn_arguments: arguments_object(&call.arguments),
        thought_signatures: call.signature.clone().map(|signature| vec![signature]),
    }
}

/// A result as text. The text of an error always says that it is an error.
fn result_text(result: &ToolResult) -> String {
    match (&result.content, result.is_error) {
        (Value::String(text), false) => text.clone(),
        (Value::Object(object), true) if object.contains_key("error") => result.content.to_string(),
        (content, true) => json!({ "error": content }).to_string(),
        (content, false) => content.to_string(),
    }
}
