//! What is asked of a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ChatMessage, LlmResponse};
use petalflow::tool::ToolSpec;

/// One call of a model.
///
/// The conversation is shared, not copied: a clone of a request costs the same however long that is.
///
/// A client sends, in this order: `system`, `instructions`, `messages`, and `input_text` as a user's message.
///
/// ```
/// use petalflow_llm::{ChatMessage, LlmRequest};
///
/// let request = LlmRequest {
///     system: Some("You answer in one word.".into()),
///     temperature: Some(0.0),
///     ..LlmRequest::new(vec![ChatMessage::user("What is the capital of Japan?")])
/// };
/// assert_eq!(request.messages.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
///
/// ```
/// use petalflow_llm::{LlmRequest, ToolChoice};
///
/// let request = LlmRequest { tool_choice: ToolChoice::Tool("search".into()), ..LlmRequest::prompt("petals") };
/// assert_ne!(request.tool_choice, ToolChoice::Auto);
/// ```
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
///
/// ```
/// use petalflow_llm::{Effort, LlmRequest};
///
/// let request = LlmRequest { effort: Some(Effort::Low), ..LlmRequest::prompt("2 + 2?") };
/// assert_eq!(request.effort, Some(Effort::Low));
/// ```
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
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, LlmRequest};
    /// use std::sync::Arc;
    ///
    /// let conversation = Arc::new(vec![ChatMessage::user("hello")]);
    /// let request = LlmRequest::new(Arc::clone(&conversation));
    /// assert!(Arc::ptr_eq(&request.messages, &conversation));
    /// ```
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

    /// With these tools.
    ///
    /// ```
    /// use petalflow_llm::LlmRequest;
    /// use petalflow::tool::ToolSpec;
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// let search = ToolSpec::new("search", "Searches the web", json!({"type": "object"}));
    /// let request = LlmRequest::prompt("petals").with_tools([Arc::new(search)]);
    /// assert_eq!(request.tools[0].name, "search");
    /// ```
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = Arc<ToolSpec>>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// With the JSON Schema that the answer must conform to.
    ///
    /// ```
    /// use petalflow_llm::LlmRequest;
    /// use serde_json::json;
    ///
    /// let request = LlmRequest::prompt("petals").with_schema(json!({"type": "object"}));
    /// assert!(request.json_schema.is_some());
    /// ```
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.json_schema = Some(Arc::new(schema));
        self
    }

    /// Its messages and the model's reply to them: what a conversation goes on with. What stands in `system` and `input_text` is
    /// not among them.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse};
    ///
    /// let request = LlmRequest::new(vec![ChatMessage::user("hello")]);
    /// let messages = request.messages_with(&LlmResponse::text_only("hi"));
    /// assert_eq!(messages, [ChatMessage::user("hello"), ChatMessage::assistant("hi")]);
    /// ```
    pub fn messages_with(&self, reply: &LlmResponse) -> Vec<ChatMessage> {
        let said = self.messages.iter().chain(&reply.message);
        said.cloned().collect()
    }
}
