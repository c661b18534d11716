//! The messages of a request.

use petalflow::tool::ToolResult;
use petalflow_llm::{ChatMessage, Part, Role};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::protocol::openai::answers::SentResult;
use crate::protocol::openai::content::{self, Content};
use crate::protocol::openai::error::ApiError;

/// A message.
#[derive(Debug, Deserialize)]
pub(super) struct SentMessage {
    role: String,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<SentCall>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct SentCall {
    id: String,
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

/// Fields of a message that carry something that the agent could not read. Those of answers that clients send back, and that have
/// nothing in them, are null or empty.
const UNSUPPORTED: [&str; 2] = ["audio", "function_call"];

/// The messages, and the results of calls at their end.
pub(super) fn read(
    sent: Vec<SentMessage>,
) -> Result<(Vec<ChatMessage>, Vec<SentResult>), ApiError> {
    let mut messages = Vec::new();
    let mut results = Vec::new();
    for (index, sent) in sent.into_iter().enumerate() {
        let message = sent.read(&format!("messages[{index}]"))?;
        if message.role != Role::Tool {
            results.clear();
        }
        results.extend(message.tool_results().map(|result| SentResult {
            call: result.call_id.clone(),
            content: result.content.clone(),
        }));
        messages.push(message);
    }
    if messages.is_empty() {
        return Err(ApiError::param("messages", "`messages` is empty"));
    }
    Ok((messages, results))
}

impl SentMessage {
    fn read(self, place: &str) -> Result<ChatMessage, ApiError> {
        for field in UNSUPPORTED {
            if self.rest.get(field).is_some_and(|value| !value.is_null()) {
                let text = format!("`{place}.{field}` is not supported");
                return Err(ApiError::param(format!("{place}.{field}"), text));
            }
        }
        let content_place = format!("{place}.content");
        let missing = || ApiError::missing(&*content_place);
        let (role, parts) = match &*self.role {
            "system" | "developer" => {
                let text = self.content.ok_or_else(missing)?.text(&content_place)?;
                (Role::System, vec![Part::text(text)])
            }
            "user" => {
                let content = self.content.ok_or_else(missing)?;
                (Role::User, content.parts(&content_place)?)
            }
            "assistant" => {
                let mut parts = match self.content {
                    Some(content) => content.parts(&content_place)?,
                    None => self.refusal.map(Part::text).into_iter().collect(),
                };
                parts.retain(|part| !matches!(part, Part::Text(text) if text.text.is_empty()));
                parts.extend(self.tool_calls.into_iter().flatten().map(SentCall::read));
                (Role::Assistant, parts)
            }
            "tool" => {
                let id = self.tool_call_id;
                let id = id.ok_or_else(|| ApiError::missing(format!("{place}.tool_call_id")))?;
                let text = self.content.ok_or_else(missing)?.text(&content_place)?;
                let result = ToolResult {
                    call_id: id,
                    content: text.into(),
                    ..ToolResult::default()
                };
                (Role::Tool, vec![Part::Result(result)])
            }
            other => {
                let text = format!("`{place}.role` cannot be `{other}`");
                return Err(ApiError::param(format!("{place}.role"), text));
            }
        };
        Ok(ChatMessage {
            name: self.name,
            ..ChatMessage::new(role, parts)
        })
    }
}

impl SentCall {
    fn read(self) -> Part {
        content::call(self.id, self.function.name, self.function.arguments)
    }
}
