//! The input of a run, as clients send it. Unknown fields are allowed, as the specification says.

use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::{ChatMessage, Part, Role};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::protocol::waits::unfit;
use crate::refusal::Refusal;

/// `RunAgentInput`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunInput {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    #[serde(default)]
    pub(super) parent_run_id: Option<String>,
    #[serde(default)]
    pub(super) state: Value,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    pub(super) tools: Vec<Tool>,
    #[serde(default)]
    pub(super) context: Vec<Context>,
    #[serde(default)]
    pub(super) forwarded_props: Value,
    #[serde(default)]
    pub(super) resume: Option<Vec<ResumeEntry>>,
}

/// A message of any role.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) role: String,
    /// A text, or parts.
    pub(super) content: Value,
    pub(super) name: Option<String>,
    pub(super) tool_calls: Option<Vec<Call>>,
    pub(super) tool_call_id: String,
    pub(super) error: Option<String>,
}

/// A call of an assistant.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Call {
    id: String,
    function: Function,
}

#[derive(Clone, Debug, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: String,
}

/// A tool that the client runs.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) parameters: Value,
}

/// Something that the agent should know.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Context {
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) value: Value,
}

/// The answer to an interrupt.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResumeEntry {
    pub(super) interrupt_id: String,
    pub(super) status: ResumeStatus,
    #[serde(default)]
    pub(super) payload: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResumeStatus {
    Resolved,
    Cancelled,
}

impl Message {
    /// The message for the conversation. `None` for reasoning and activities, which are not sent to models.
    pub(super) fn chat(&self) -> Result<Option<ChatMessage>, Refusal> {
        let role = match &*self.role {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::System,
            "tool" => Role::Tool,
            "reasoning" | "activity" => return Ok(None),
            other => {
                return Err(unfit(format!(
                    "message `{}` has the role `{other}`, which is not known",
                    self.id
                )));
            }
        };
        let mut parts = Vec::new();
        if role == Role::Tool {
            parts.push(Part::Result(ToolResult {
                call_id: self.tool_call_id.clone(),
                content: self.result(),
                is_error: self.error.is_some(),
                ..ToolResult::default()
            }));
        } else {
            parts.extend(content(&self.id, &self.content)?);
        }
        for call in self.tool_calls.iter().flatten() {
            let arguments = serde_json::from_str(&call.function.arguments);
            parts.push(Part::Call(ToolCall {
                id: call.id.clone(),
                name: call.function.name.clone(),
                arguments: arguments.unwrap_or_else(|_| json!({})),
                ..ToolCall::default()
            }));
        }
        let mut message = ChatMessage::new(role, parts);
        message.name.clone_from(&self.name);
        Ok(Some(message))
    }

    /// The result of a call: JSON in a text is read.
    pub(super) fn result(&self) -> Value {
        if let Some(error) = &self.error {
            return json!({ "error": error });
        }
        match &self.content {
            Value::String(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
            }
            other => other.clone(),
        }
    }
}

fn content(id: &str, content: &Value) -> Result<Vec<Part>, Refusal> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::text(text.as_str())]),
        Value::Array(parts) => parts.iter().map(|it| part(id, it)).collect(),
        _ => Err(unfit(format!(
            "the content of message `{id}` is neither a text nor a list of parts"
        ))),
    }
}

fn part(id: &str, part: &Value) -> Result<Part, Refusal> {
    let source = &part["source"];
    let value = source["value"].as_str().unwrap_or_default().to_string();
    let source_kind = source["type"].as_str().unwrap_or_default();
    let kind = part["type"].as_str().unwrap_or_default();
    let unknown = match kind {
        "image" => "image/png",
        "audio" => "audio/mpeg",
        "video" => "video/mp4",
        _ => "application/pdf",
    };
    let media = |source: MediaSource, media_type: Option<&str>| {
        Part::Media(Media {
            media_type: media_type.unwrap_or(unknown).to_string(),
            source,
            origin: None,
        })
    };
    let media_type = source["mimeType"].as_str();
    match (kind, source_kind) {
        ("text", _) => Ok(Part::text(part["text"].as_str().unwrap_or_default())),
        ("image" | "audio" | "video" | "document", "data") => {
            Ok(media(MediaSource::Base64(value), media_type))
        }
        ("image" | "audio" | "video" | "document", "url") => {
            Ok(media(MediaSource::Url(value), media_type))
        }
        _ => Err(unfit(format!(
            "message `{id}` has a part of type `{kind}` with a source of type `{source_kind}`, which is not supported: send \
             text, or data or the URL of an image, audio, video or document"
        ))),
    }
}

impl RunInput {
    /// The state of the client, without what the thread has already.
    pub(super) fn new_state(
        &self,
        known: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        match &self.state {
            Value::Null => Ok(Map::new()),
            Value::Object(state) => {
                let new = state
                    .iter()
                    .filter(|(key, value)| known.get(*key) != Some(value));
                Ok(new
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect())
            }
            _ => Err(unfit("`state` is not an object")),
        }
    }
}
