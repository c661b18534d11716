//! Requests to a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::typed_output::TypedOutput;
use crate::native::NativeTool;
use crate::{ChatMessage, LlmResponse};
use petalflow::tool::ToolSpec;

/// One call of a model.
///
/// Clones share the conversation: a clone costs the same for every length of the conversation.
///
/// A client sends, in this order: `system`, `instructions`, `messages`, and `input_text` as a user message.
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
    /// The model. `None` means the client's default.
    pub model: Option<Arc<str>>,
    /// The system prompt: sent first.
    pub system: Option<String>,
    /// More instructions. Some providers accept them separately from `system`.
    pub instructions: Option<String>,
    /// The conversation so far.
    pub messages: Arc<Vec<ChatMessage>>,
    /// The new input: sent last, as a user message.
    pub input_text: Option<String>,
    /// The JSON Schema that the answer must conform to.
    pub json_schema: Option<Arc<Value>>,
    /// How the model is asked to follow the schema. `None`: as is best for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed_output: Option<TypedOutput>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// The tools that the model finds with the tool search of its provider, and may call then. Only for models with
    /// [`Capabilities::tool_search`](crate::Capabilities::tool_search); a request to another one is refused. They are
    /// sent with each request, and are no input tokens until the model has found them. Their schemas are not enforced.
    #[serde(skip_serializing_if = "<[Arc<ToolSpec>]>::is_empty")]
    pub searchable_tools: Arc<[Arc<ToolSpec>]>,
    /// The tools that the provider runs itself. A request with one that its provider does not have, or with a setting that
    /// it does not have, is refused.
    #[serde(skip_serializing_if = "<[NativeTool]>::is_empty")]
    pub native_tools: Arc<[NativeTool]>,
    /// Whether the model may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools at once. `None`: as the provider decides. `Some(false)` is sent to providers that
    /// have such a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
    /// The probability mass of nucleus sampling.
    pub top_p: Option<f32>,
    /// The maximum number of tokens in the response.
    pub max_tokens: Option<u32>,
    /// The sequences that end the response.
    pub stop: Vec<String>,
    /// Makes responses repeatable, if the provider supports it.
    pub seed: Option<u64>,
    /// How much the model reasons before it answers.
    pub effort: Option<Effort>,
    /// Whether the provider is asked to cache the start of the conversation.
    pub prompt_cache: PromptCache,
    /// What the client does when the provider pauses the answer. It is not part of recordings.
    #[serde(skip)]
    pub on_pause: OnPause,
    /// Options for one particular provider. Objects are merged into the objects of the request, and lists are appended to
    /// its lists: `{"tools": [{"type": "mcp", "server_label": "docs"}]}` adds a tool of the provider that
    /// [`native_tools`](Self::native_tools) does not have.
    pub extra: Map<String, Value>,
}

/// Whether a provider is asked to cache the start of a request, which later requests repeat.
///
/// A cached start costs less and is read faster. Providers decide how long they keep it.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::request::PromptCache;
///
/// let request = LlmRequest { prompt_cache: PromptCache::Short, ..LlmRequest::prompt("petals") };
/// assert_ne!(request.prompt_cache, PromptCache::Automatic);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptCache {
    /// What the provider does by itself. OpenAI and Gemini cache, Anthropic does not.
    #[default]
    Automatic,
    /// For some minutes. Anthropic caches the tools, the system prompt and the conversation.
    Short,
    /// For an hour or a day, where the provider has it. Writing to the cache costs more.
    Long,
}

/// What a client does when the provider pauses a long answer, as Anthropic does while its own tools run (`pause_turn`).
///
/// An agent continues such an answer itself: each continuation is a request that its limits count, and what was written
/// before it is stored.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::request::OnPause;
///
/// let request = LlmRequest { on_pause: OnPause::Return, ..LlmRequest::prompt("petals") };
/// assert_ne!(request.on_pause, OnPause::Continue);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnPause {
    /// It makes further requests until the answer is complete, but at most ten. The parts are one response, whose usage is
    /// that of all of them.
    #[default]
    Continue,
    /// It returns what was written, with [`FinishReason::Paused`](crate::response::FinishReason::Paused). A request that
    /// ends with this message continues the answer.
    Return,
}

/// Whether a model calls tools.
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::request::ToolChoice;
///
/// let request = LlmRequest { tool_choice: ToolChoice::Tool("search".into()), ..LlmRequest::prompt("petals") };
/// assert_ne!(request.tool_choice, ToolChoice::Auto);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model calls no tool.
    None,
    /// The model calls at least one tool.
    Required,
    /// The model calls this tool.
    Tool(String),
}

/// How much a model reasons before it answers.
///
/// A model that does not have a level gets the next higher one, or its highest
/// ([`Capabilities::efforts`](crate::Capabilities::efforts)).
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::request::Effort;
///
/// let request = LlmRequest { effort: Some(Effort::Low), ..LlmRequest::prompt("2 + 2?") };
/// assert_eq!(request.effort, Some(Effort::Low));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// No reasoning. A model that always reasons does so as little as it can.
    None,
    /// As little reasoning as the model supports.
    Minimal,
    /// Little reasoning.
    Low,
    /// Enough reasoning for most questions.
    Medium,
    /// Much reasoning.
    High,
    /// More reasoning than that, for the hardest questions.
    #[serde(rename = "xhigh")]
    XHigh,
    /// This number of tokens.
    Budget(u32),
}

impl LlmRequest {
    /// A request with this conversation.
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

    /// A request with one user message.
    pub fn prompt(text: impl Into<String>) -> Self {
        LlmRequest {
            input_text: Some(text.into()),
            ..Self::default()
        }
    }

    /// Sets the tools.
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

    /// Sets the tools that the model finds with the tool search of its provider.
    ///
    /// ```
    /// use petalflow::tool::ToolSpec;
    /// use petalflow_llm::LlmRequest;
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// let refund = ToolSpec::new("refund_order", "Pays an order back", json!({"type": "object"}));
    /// let request = LlmRequest::prompt("Order 7 was late.").with_searchable_tools([Arc::new(refund)]);
    /// assert!(request.tools.is_empty() && request.searchable_tools.len() == 1);
    /// ```
    #[must_use]
    pub fn with_searchable_tools(mut self, tools: impl IntoIterator<Item = Arc<ToolSpec>>) -> Self {
        self.searchable_tools = tools.into_iter().collect();
        self
    }

    /// Sets the tools that the provider runs itself.
    ///
    /// ```
    /// use petalflow_llm::LlmRequest;
    /// use petalflow_llm::native::{CodeExecution, NativeTool, WebSearch};
    ///
    /// let tools = [NativeTool::from(WebSearch::new()), CodeExecution::new().into()];
    /// let request = LlmRequest::prompt("How old is the oldest tree?").with_native_tools(tools);
    /// assert_eq!(request.native_tools.len(), 2);
    /// ```
    #[must_use]
    pub fn with_native_tools(
        mut self,
        tools: impl IntoIterator<Item = impl Into<NativeTool>>,
    ) -> Self {
        self.native_tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// All tools: those that the model reads, and those that it can find.
    #[cfg(feature = "providers")]
    pub(crate) fn all_tools(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.tools.iter().chain(self.searchable_tools.iter())
    }

    /// Whether the model may have something to call.
    #[cfg(feature = "providers")]
    pub(crate) fn has_tools(&self) -> bool {
        self.all_tools().next().is_some() || !self.native_tools.is_empty()
    }

    /// Sets the JSON Schema that the answer must conform to.
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

    /// The messages and the model's reply: the input of the next request in the conversation. The contents of `system`
    /// and `input_text` are not included.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse};
    ///
    /// let request = LlmRequest::new(vec![ChatMessage::user("hello")]);
    /// let messages = request.messages_with(&LlmResponse::text_only("hi"));
    /// assert_eq!(messages, [ChatMessage::user("hello"), ChatMessage::assistant("hi")]);
    /// ```
    pub fn messages_with(&self, reply: &LlmResponse) -> Vec<ChatMessage> {
        let messages = self.messages.iter().chain(&reply.message);
        messages.cloned().collect()
    }

    /// The request that continues an answer that the provider has paused: the conversation ends with what was written.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, LlmRequest};
    ///
    /// let request = LlmRequest::prompt("petals?").continued(ChatMessage::assistant("I search."));
    /// assert_eq!(*request.messages, [ChatMessage::user("petals?"), ChatMessage::assistant("I search.")]);
    /// ```
    #[must_use]
    pub fn continued(&self, written: ChatMessage) -> Self {
        let mut messages = self.messages.as_ref().clone();
        messages.extend(self.input_text.as_deref().map(ChatMessage::user));
        messages.push(written);
        LlmRequest {
            messages: Arc::new(messages),
            input_text: None,
            ..self.clone()
        }
    }
}
