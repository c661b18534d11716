//! What a model answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ChatMessage, TokenUsage};
use crate::tool::ToolCall;

/// A model's whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmResponse {
    /// What it said, thought and called, in order; none where it said nothing.
    pub message: Option<ChatMessage>,
    /// The answer read as the request's `json_schema` asks; none where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The provider's name for the answer; empty where it has none.
    #[serde(default)]
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
}
