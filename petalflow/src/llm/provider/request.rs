//! A request in the words of the library underneath.

use genai::adapter::AdapterKind;
use genai::chat::{self, ChatOptions, ChatRequest, ContentPart, JsonSpec, ReasoningEffort};
use serde_json::{Value, json};

use super::super::{
    ChatMessage, Effort, LlmRequest, Media, MediaSource, Part, Role, Text, ToolChoice,
};
use super::response::REDACTED;
use crate::tool::{ToolCall, ToolResult};

/// What is said, in order: system, instructions, messages, input; and the tools.
pub(super) fn chat(kind: AdapterKind, request: &LlmRequest) -> ChatRequest {
    let instructions = request.instructions.as_deref();
    let input = request.input_text.as_deref();
    let messages = request.messages.iter();
    let messages = instructions
        .map(chat::ChatMessage::system)
        .into_iter()
        .chain(messages.filter_map(|said| message(kind, said)))
        .chain(input.map(chat::ChatMessage::user));
    let mut chat = ChatRequest::from_messages(messages.collect());
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

/// Everything else that is asked for.
pub(super) fn options(kind: AdapterKind, request: &LlmRequest) -> ChatOptions {
    // Anthropic wants its signed thoughts back; Gemini thinks aloud only if it is asked to.
    let thoughts = kind != AdapterKind::Gemini || request.effort.is_some();
    let mut options = ChatOptions::default().with_capture_reasoning_content(thoughts);
    options.temperature = request.temperature.map(plainly);
    options.top_p = request.top_p.map(plainly);
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
    // Providers refuse a choice among no tools.
    options.tool_choice = match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some(chat::ToolChoice::None),
        ToolChoice::Required => Some(chat::ToolChoice::Required),
        ToolChoice::Tool(name) => Some(chat::ToolChoice::tool(name)),
    };
    if !request.extra.is_empty() {
        options.extra_body = Some(Value::Object(request.extra.clone()));
    }
    options
}

/// 0.7 as an `f32` is 0.699999988 as an `f64`: what was meant is what is written.
fn plainly(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// A message, or nothing where the provider would see none of its parts.
fn message(kind: AdapterKind, message: &ChatMessage) -> Option<chat::ChatMessage> {
    let mut parts = Vec::with_capacity(message.parts.len());
    for one in &message.parts {
        part(kind, one, &mut parts);
    }
    let role = match message.role {
        Role::System => chat::ChatRole::System,
        Role::User => chat::ChatRole::User,
        Role::Assistant => chat::ChatRole::Assistant,
        Role::Tool => chat::ChatRole::Tool,
    };
    (!parts.is_empty()).then(|| chat::ChatMessage::new(role, parts))
}

fn part(kind: AdapterKind, part: &Part, parts: &mut Vec<ContentPart>) {
    match part {
        Part::Text(Text { text, signature }) => {
            parts.extend(signature.clone().map(ContentPart::ThoughtSignature));
            parts.push(ContentPart::Text(text.clone()));
        }
        Part::Thought(Text { text, signature }) => {
            let hidden = signature.as_deref();
            if let Some(data) = hidden.and_then(|signature| signature.strip_prefix(REDACTED)) {
                if kind == AdapterKind::Anthropic {
                    let block = json!({"type": "redacted_thinking", "data": data});
                    parts.push(ContentPart::from_custom(block, None));
                }
                return;
            }
            // For Gemini, a signature without its thought would sign whatever comes next.
            if kind != AdapterKind::Gemini {
                parts.extend(signature.clone().map(ContentPart::ThoughtSignature));
            }
            parts.push(ContentPart::ReasoningContent(text.clone()));
        }
        Part::Call(call) => parts.push(ContentPart::ToolCall(called(call))),
        Part::Result(result) => parts.push(ContentPart::ToolResponse(returned(result))),
        Part::Media(Media { media_type, source }) => {
            parts.push(ContentPart::Binary(match source {
                MediaSource::Url(url) => chat::Binary::from_url(media_type, url, None),
                MediaSource::Base64(data) => {
                    chat::Binary::from_base64(media_type, data.as_str(), None)
                }
            }));
        }
        // Providers take code back only in words: those in which models are told to write it.
        Part::Code { code, .. } => {
            parts.push(ContentPart::Text(format!("```tool_code\n{code}\n```")));
        }
        Part::CodeResult { outcome, output } => {
            let outcome = match &**outcome {
                "OUTCOME_OK" => String::new(),
                other => format!("{other}: "),
            };
            let words = format!("```tool_output\n{outcome}{output}\n```");
            parts.push(ContentPart::Text(words));
        }
    }
}

fn called(call: &ToolCall) -> chat::ToolCall {
    chat::ToolCall {
        call_id: call.id.clone(),
        fn_name: call.name.clone(),
        fn_arguments: match &call.arguments {
            // Providers take objects only: the model sees what it wrote, and the result beside it says what was wrong.
            Value::Object(arguments) => Value::Object(arguments.clone()),
            Value::Null => Value::Object(serde_json::Map::new()),
            written => json!({ "invalid": written }),
        },
        thought_signatures: call.signature.clone().map(|signature| vec![signature]),
    }
}

fn returned(result: &ToolResult) -> chat::ToolResponse {
    let content = match (&result.content, result.is_error) {
        (Value::String(text), false) => text.clone(),
        // An error says that it is one, whatever a tool wrote.
        (Value::Object(object), true) if object.contains_key("error") => result.content.to_string(),
        (content, true) => json!({ "error": content }).to_string(),
        (content, false) => content.to_string(),
    };
    chat::ToolResponse::new(&result.call_id, content).with_fn_name(&result.name)
}
