//! Responses of a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ChatMessage, TokenUsage};
use petalflow::tool::ToolCall;

/// A model's complete response.
///
/// ```
/// use petalflow_llm::LlmResponse;
/// use petalflow_llm::response::FinishReason;
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
    /// What the provider says about `finish`: the words of a refusal, or what its filter found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_message: Option<String>,
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
/// use petalflow_llm::LlmResponse;
/// use petalflow_llm::response::Status;
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
/// use petalflow_llm::response::FinishReason;
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
    /// The model refused to answer. The message may have its words.
    Refusal,
    /// The provider's filter blocked the prompt, so there is no message. [`LlmResponse::checked`] makes it an error.
    Blocked,
    /// The provider paused a long answer. It continues when it is sent what it wrote: see
    /// [`OnPause`](crate::request::OnPause).
    Paused,
    /// Another reason, as the provider names it.
    Other(String),
}

/// The provider's information about the model's reasoning.
///
/// ```
/// use petalflow_llm::response::Reasoning;
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

    /// One answer of two parts, of which the provider has paused the first: the content and the usage of both, and
    /// everything else of the second.
    ///
    /// ```
    /// use petalflow_llm::LlmResponse;
    ///
    /// let whole = LlmResponse::text_only("I search. ").joined(LlmResponse::text_only("Leaves."));
    /// assert_eq!(whole.text(), "I search. Leaves.");
    /// ```
    #[must_use]
    pub fn joined(self, mut rest: Self) -> Self {
        rest.usage += self.usage;
        rest.message = match (self.message, rest.message) {
            (Some(mut first), Some(rest)) => {
                first.parts.extend(rest.parts);
                Some(first)
            }
            (first, rest) => first.or(rest),
        };
        rest
    }
}
