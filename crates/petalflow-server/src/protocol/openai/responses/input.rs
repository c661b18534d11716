//! The input of a response: a text, or items.

use petalflow::tool::ToolResult;
use petalflow_llm::message::MediaSource;
use petalflow_llm::{ChatMessage, Part, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::openai::answers::SentResult;
use crate::protocol::openai::calls;
use crate::protocol::openai::content::{Content, call, media};
use crate::protocol::openai::error::ApiError;

/// The input.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Input {
    Text(String),
    Items(Vec<Value>),
}

/// An input that was read.
#[derive(Debug, Default)]
pub(super) struct ReadInput {
    /// All messages, with calls and results.
    pub(super) messages: Vec<ChatMessage>,
    /// The results after the last message, or all of them if the thread has the calls.
    pub(super) results: Vec<SentResult>,
}

/// Reads an input. With `continues`, the thread has the conversation already.
pub(super) fn read(input: Option<Input>, continues: bool) -> Result<ReadInput, ApiError> {
    let mut read = ReadInput::default();
    match input {
        None => {}
        Some(Input::Text(text)) => read.messages.push(ChatMessage::user(text)),
        Some(Input::Items(items)) => {
            for (index, item) in items.into_iter().enumerate() {
                add(&mut read, item, &format!("input[{index}]"), continues)?;
            }
        }
    }
    if read.messages.is_empty() && read.results.is_empty() {
        return Err(ApiError::param("input", "`input` is empty"));
    }
    Ok(read)
}

fn add(
    read: &mut ReadInput,
    mut item: Value,
    place: &str,
    continues: bool,
) -> Result<(), ApiError> {
    let kind = item["type"].as_str().unwrap_or("message").to_string();
    let text = |field: &str| {
        let value = item[field].as_str().map(String::from);
        value.ok_or_else(|| ApiError::missing(format!("{place}.{field}")))
    };
    match &*kind {
        "message" => {
            let role = text("role")?;
            let content: Option<Content> = serde_json::from_value(item["content"].take()).ok();
            let message = message(&role, content, place)?;
            if !continues {
                read.results.clear();
            }
            read.messages.push(message);
        }
        "function_call" => {
            let call = call(text("call_id")?, text("name")?, text("arguments")?);
            add_to_answer(read, call);
        }
        "image_generation_call" => {
            let format = item["output_format"].as_str().unwrap_or("png");
            let image = media(
                format!("image/{format}"),
                MediaSource::Base64(text("result")?),
            );
            add_to_answer(read, image);
        }
        "function_call_output" => {
            let id = text("call_id")?;
            let content: Option<Content> = serde_json::from_value(item["output"].take()).ok();
            let output = format!("{place}.output");
            let content = content.ok_or_else(|| ApiError::missing(&*output))?;
            let content = Value::from(content.text(&output)?);
            if !continues {
                add_result(read, &id, content.clone());
            }
            read.results.push(SentResult { call: id, content });
        }
        "mcp_approval_response" => {
            let id = calls::of_approval(&text("approval_request_id")?);
            let decision = json!({ "confirmed": item["approve"], "reason": item["reason"] });
            read.results.push(SentResult {
                call: id,
                content: decision,
            });
        }
        // Parts of earlier responses that no model reads again.
        "mcp_approval_request" | "reasoning" => {}
        other => {
            let text = format!("`{place}` has the type `{other}`, which is not supported");
            return Err(ApiError::param(place, text));
        }
    }
    Ok(())
}

fn message(role: &str, content: Option<Content>, place: &str) -> Result<ChatMessage, ApiError> {
    let content_place = format!("{place}.content");
    let content = content.ok_or_else(|| {
        let text = format!("`{content_place}` is missing, or is neither a text nor a list");
        ApiError::param(&*content_place, text)
    })?;
    let role = match role {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            let place = format!("{place}.role");
            let text = format!("`{place}` cannot be `{other}`");
            return Err(ApiError::param(place, text));
        }
    };
    Ok(ChatMessage::new(role, content.parts(&content_place)?))
}

/// Calls and images of one answer are one message.
fn add_to_answer(read: &mut ReadInput, part: Part) {
    match read.messages.last_mut() {
        Some(last) if last.role == Role::Assistant => last.parts.push(part),
        _ => read
            .messages
            .push(ChatMessage::new(Role::Assistant, vec![part])),
    }
}

fn add_result(read: &mut ReadInput, id: &str, content: Value) {
    let result = Part::Result(ToolResult {
        call_id: id.to_string(),
        content,
        ..ToolResult::default()
    });
    read.messages
        .push(ChatMessage::new(Role::Tool, vec![result]));
}
