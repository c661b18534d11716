//! Responses of a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ChatMessage, LlmError, LlmErrorKind, LlmRequest, Part, TokenUsage};
use petalflow::tool::ToolCall;

/// A model's complete response.
///
/// ```
/// use petalflow_llm::{FinishReason, LlmResponse};
///
/// let response = LlmResponse { finish: Some(FinishReason::Stop), ..LlmResponse::text_only("Paris") };
/// assert_eq!(response.text(), "Paris");
/// assert!(response.calls().next().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmResponse {
    /// The text, reasoning and tool calls, in order. `None` if the model returned none of them.
    pub message: Option<ChatMessage>,
    /// The answer parsed as the request's `json_schema` requires. `None` if it cannot be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The provider's id of the response. Empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The provider's name.
    #[serde(default)]
    pub provider: String,
    /// The model's name.
    #[serde(default)]
    pub model: String,
    /// Whether the response is complete.
    #[serde(default)]
    pub status: Status,
    /// Why the response ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// The tokens that were used.
    #[serde(default)]
    pub usage: TokenUsage,
    /// The provider's information about the model's reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Whether the user interrupted the response.
    #[serde(default)]
    pub interrupted: bool,
    /// Other data from the provider.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// Whether a response is complete.
///
/// ```
/// use petalflow_llm::{LlmResponse, Status};
///
/// assert_eq!(LlmResponse::text_only("Paris").status, Status::Completed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The response is complete.
    #[default]
    Completed,
    /// The response was cut off.
    Incomplete,
    /// The provider failed.
    Failed,
}

/// Why a response ended.
///
/// ```
/// use petalflow_llm::FinishReason;
///
/// assert_eq!(serde_json::to_string(&FinishReason::ToolCalls)?, "\"tool_calls\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model finished the answer.
    Stop,
    /// The response reached its maximum length.
    Length,
    /// The model calls tools.
    ToolCalls,
    /// The provider filtered the response.
    ContentFilter,
    /// Another reason, as the provider names it.
    Other(String),
}

/// The provider's information about the model's reasoning.
///
/// ```
/// use petalflow_llm::Reasoning;
///
/// let reasoning = Reasoning { id: Some("rs_1".into()), summary: "Capitals of Europe".into() };
/// assert_eq!(reasoning.summary, "Capitals of Europe");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The provider's id of the reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A summary of the reasoning.
    pub summary: String,
}

impl LlmResponse {
    /// A response with this text.
    pub fn text_only(text: impl Into<String>) -> Self {
        LlmResponse {
            message: Some(ChatMessage::assistant(text.into())),
            ..Self::default()
        }
    }

    /// The text, without reasoning.
    pub fn text(&self) -> String {
        self.message
            .as_ref()
            .map(ChatMessage::text)
            .unwrap_or_default()
    }

    /// The tool calls in the response, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message.iter().flat_map(ChatMessage::calls)
    }

    /// The response as a client returns it: call arguments are objects, and `json` follows the request's schema.
    ///
    /// Empty arguments become `{}`. If the request has a schema and the provider parsed no `json`, the text is parsed
    /// and used if it is an object.
    ///
    /// ```
    /// use petalflow_llm::{LlmRequest, LlmResponse};
    /// use serde_json::json;
    ///
    /// let request = LlmRequest::prompt("Who?").with_schema(json!({"type": "object"}));
    /// let response = LlmResponse::text_only(r#"{"name": "Ada"}"#).checked(&request)?;
    /// assert_eq!(response.json, Some(json!({"name": "Ada"})));
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Arguments`], which contains the response, if the arguments of a call are not a JSON object.
    pub fn checked(self, request: &LlmRequest) -> Result<Self, LlmError> {
        self.checked_with(request.json_schema.is_some())
    }

    pub(super) fn checked_with(mut self, wants_json: bool) -> Result<Self, LlmError> {
        if wants_json && self.json.is_none() {
            self.json = serde_json::from_str(&self.text())
                .ok()
                .filter(Value::is_object);
        }
        let mut wrong = None;
        for part in self
            .message
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            let Part::Call(call) = part else { continue };
            match &call.arguments {
                Value::Object(_) => {}
                Value::Null => call.arguments = Value::Object(Map::new()),
                Value::String(text) if text.trim().is_empty() => {
                    call.arguments = Value::Object(Map::new());
                }
                other => wrong = wrong.or_else(|| Some(not_an_object(call, other))),
            }
        }
        match wrong {
            None => Ok(self),
            Some(message) => {
                let response = Box::new(self);
                Err(LlmError::new(LlmErrorKind::Arguments { response }, message))
            }
        }
    }
}

/// The error text for arguments that are not a JSON object. It shows only their start, because they can be very long.
fn not_an_object(call: &ToolCall, arguments: &Value) -> String {
    let written = match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let start: String = written.chars().take(SHOWN).collect();
    let more = if start.len() < written.len() {
        "…"
    } else {
        ""
    };
    format!(
        "arguments of call `{}` of tool `{}` are not a JSON object: `{}{more}`",
        call.id,
        call.name,
        start.escape_debug()
    )
}

/// The maximum length of wrong arguments in an error, in characters.
const SHOWN: usize = 80;
