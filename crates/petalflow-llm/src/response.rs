//! What a model answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ChatMessage, LlmError, LlmErrorKind, LlmRequest, Part, TokenUsage};
use petalflow::tool::ToolCall;

/// A model's whole answer.
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
    /// What it said, thought and called, in order; none where it said nothing.
    pub message: Option<ChatMessage>,
    /// The answer read as the request's `json_schema` asks; none where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The provider's name for the answer; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Who answered.
    #[serde(default)]
    pub provider: String,
    /// Which model answered.
    #[serde(default)]
    pub model: String,
    /// Whether it is whole.
    #[serde(default)]
    pub status: Status,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// What it took.
    #[serde(default)]
    pub usage: TokenUsage,
    /// What a provider says about how the model thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Whether the user interrupted it.
    #[serde(default)]
    pub interrupted: bool,
    /// Anything else that the provider says.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// Whether an answer is whole.
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
    /// It is.
    #[default]
    Completed,
    /// It was cut short.
    Incomplete,
    /// The provider failed.
    Failed,
}

/// Why an answer ended.
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
    /// The model had said it all.
    Stop,
    /// It was as long as it may be.
    Length,
    /// It calls tools.
    ToolCalls,
    /// The provider held it back.
    ContentFilter,
    /// In the provider's words.
    Other(String),
}

/// What a provider says about how the model thought.
///
/// ```
/// use petalflow_llm::Reasoning;
///
/// let reasoning = Reasoning { id: Some("rs_1".into()), summary: "Capitals of Europe".into() };
/// assert_eq!(reasoning.summary, "Capitals of Europe");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The provider's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In short.
    pub summary: String,
}

impl LlmResponse {
    /// An answer of these words.
    pub fn text_only(text: impl Into<String>) -> Self {
        LlmResponse {
            message: Some(ChatMessage::assistant(text.into())),
            ..Self::default()
        }
    }

    /// Its words, without what was only thought.
    pub fn text(&self) -> String {
        self.message
            .as_ref()
            .map(ChatMessage::text)
            .unwrap_or_default()
    }

    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message.iter().flat_map(ChatMessage::calls)
    }

    /// The answer as a client hands it out: arguments of calls are objects, and `json` is what the request's schema asks for.
    ///
    /// Empty arguments become `{}`. Where the request has a schema and the provider has read no `json`, the words are read, if
    /// they are an object.
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
    /// [`LlmErrorKind::Arguments`], which has the answer in it, where the arguments of a call are not a JSON object.
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

/// What is wrong with arguments that are not a JSON object. What the model wrote may be enormous: only its start is shown.
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

/// How much of wrong arguments an error shows, in characters.
const SHOWN: usize = 80;
