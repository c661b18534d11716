//! What is asked of a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ChatMessage;
use crate::tool::ToolSpec;

/// One call of a model.
///
/// The conversation is shared, not copied: a clone of a request costs the same however long that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LlmRequest {
    /// The model, if not the client's own.
    pub model: Option<Arc<str>>,
    /// What sets the model up: sent first.
    pub system: Option<String>,
    /// More of it, which some providers take apart from `system`.
    pub instructions: Option<String>,
    /// The conversation so far.
    pub messages: Arc<Vec<ChatMessage>>,
    /// What the user says now: sent last, as a user's message.
    pub input_text: Option<String>,
    /// The JSON Schema that the answer must conform to.
    pub json_schema: Option<Arc<Value>>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Whether it may, must or must not.
    pub tool_choice: ToolChoice,
    /// How freely it chooses its words.
    pub temperature: Option<f32>,
    /// How much of the likely words it chooses from.
    pub top_p: Option<f32>,
    /// The most tokens that it may answer with.
    pub max_tokens: Option<u32>,
    /// What makes it stop.
    pub stop: Vec<String>,
    /// Makes answers repeatable where the provider can.
    pub seed: Option<u64>,
    /// How long it thinks before it answers.
    pub effort: Option<Effort>,
    /// What only one provider understands.
    pub extra: Map<String, Value>,
}

/// Whether a model calls tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Never.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(String),
}

/// How long a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// Not at all, or as little as it can.
    Minimal,
    /// Little.
    Low,
    /// As most questions need.
    Medium,
    /// Long.
    High,
    /// This many tokens.
    Budget(u32),
}

impl LlmRequest {
    /// A request of this conversation.
    pub fn new(messages: impl Into<Arc<Vec<ChatMessage>>>) -> Self {
        LlmRequest {
            messages: messages.into(),
            ..Self::default()
        }
    }

    /// A request of one user's message.
    pub fn prompt(text: impl Into<String>) -> Self {
        LlmRequest {
            input_text: Some(text.into()),
            ..Self::default()
        }
    }
}
