//! One reply of a script.

use std::time::Duration;

use serde_json::Value;

use super::super::{
    ChatMessage, Delta, FinishReason, LlmError, LlmResponse, Part, Role, StreamAccumulator,
    TokenUsage,
};
use petalflow::tool::ToolCall;

/// One reply of a [`ScriptedModel`](super::ScriptedModel). Text, a [`ToolCall`], an [`LlmResponse`] and an [`LlmError`]
/// convert into replies.
///
/// ```
/// use petalflow_llm::{LlmError, LlmErrorKind, Reply, ScriptedModel};
/// use serde_json::json;
/// use std::time::Duration;
///
/// let model = ScriptedModel::new([
///     Reply::text("Let me see.").and_call("search", json!({"for": "petals"})),
///     Reply::chunks(["Pe", "tals"]).after(Duration::from_secs(1)).every(Duration::from_millis(50)),
///     LlmError::new(LlmErrorKind::Connection, "the cable is out").into(),
/// ]);
/// # let _ = model;
/// ```
#[derive(Debug)]
pub struct Reply {
    pub(super) before: Duration,
    pub(super) between: Duration,
    pub(super) content: Content,
    pub(super) end: Result<LlmResponse, LlmError>,
}

#[derive(Debug)]
pub(super) enum Content {
    /// The content of the response.
    Complete,
    Chunks(Vec<Delta>),
}

impl Reply {
    /// A reply with this text.
    pub fn text(text: impl Into<String>) -> Self {
        LlmResponse::text_only(text).into()
    }

    /// A tool call. It has no id, as with some providers: agents assign one. For a call with an id, convert a
    /// [`ToolCall`] into a reply.
    ///
    /// ```
    /// use petalflow::tool::ToolCall;
    /// use petalflow_llm::Reply;
    /// use serde_json::json;
    ///
    /// let search = Reply::call("search", json!({"for": "petals"}));
    /// let with_id = Reply::from(ToolCall { id: "call_1".into(), name: "search".into(), ..ToolCall::default() });
    /// # let _ = (search, with_id);
    /// ```
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::from(LlmResponse::default()).and_call(tool, arguments)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(self, tool: impl Into<String>, arguments: Value) -> Self {
        self.and(Part::Call(ToolCall {
            name: tool.into(),
            arguments,
            ..ToolCall::default()
        }))
    }

    /// Adds a part: reasoning, an image, a call with an id.
    ///
    /// ```
    /// use petalflow_llm::{Part, Reply};
    ///
    /// let reply = Reply::text("Paris").and(Part::Thought("It was a short question.".into()));
    /// # let _ = reply;
    /// ```
    #[must_use]
    pub fn and(mut self, part: Part) -> Self {
        if let Content::Chunks(chunks) = &mut self.content {
            chunks.extend(Delta::from_message(&ChatMessage::new(
                Role::Assistant,
                vec![part],
            )));
        } else if let Ok(response) = &mut self.end {
            let empty = || ChatMessage::new(Role::Assistant, Vec::new());
            response.message.get_or_insert_with(empty).parts.push(part);
        }
        self
    }

    /// A response that arrives in these chunks; [`complete`](super::super::LlmClient::complete) joins them.
    pub fn chunks(chunks: impl IntoIterator<Item = impl Into<Delta>>) -> Self {
        Reply {
            content: Content::Chunks(chunks.into_iter().map(Into::into).collect()),
            ..Self::from(LlmResponse::default())
        }
    }

    /// Replaces the end of the reply with this error.
    ///
    /// ```
    /// use petalflow_llm::{LlmError, LlmErrorKind, Reply};
    ///
    /// let cut = Reply::chunks(["Once upon"]).broken(LlmError::new(LlmErrorKind::Connection, "cut off"));
    /// # let _ = cut;
    /// ```
    #[must_use]
    pub fn broken(mut self, error: LlmError) -> Self {
        if let (Content::Complete, Ok(response)) = (&self.content, &self.end) {
            self.content = Content::Chunks(
                response
                    .message
                    .as_ref()
                    .map(Delta::from_message)
                    .unwrap_or_default(),
            );
        }
        self.end = Err(error);
        self
    }

    /// Sets a delay before the reply.
    #[must_use]
    pub const fn after(mut self, wait: Duration) -> Self {
        self.before = wait;
        self
    }

    /// Sets the delay between chunks.
    #[must_use]
    pub const fn every(mut self, wait: Duration) -> Self {
        self.between = wait;
        self
    }

    /// Sets the token usage.
    ///
    /// ```
    /// use petalflow_llm::{Reply, TokenUsage};
    ///
    /// let reply = Reply::text("hi").with_usage(TokenUsage { input: 3, output: 1, total: 4, ..TokenUsage::default() });
    /// # let _ = reply;
    /// ```
    #[must_use]
    pub fn with_usage(mut self, usage: TokenUsage) -> Self {
        if let Ok(response) = &mut self.end {
            response.usage = usage;
        }
        self
    }

    /// Sets the finish reason.
    ///
    /// ```
    /// use petalflow_llm::{FinishReason, Reply};
    ///
    /// let cut = Reply::text("Once upon").with_finish(FinishReason::Length);
    /// # let _ = cut;
    /// ```
    #[must_use]
    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        if let Ok(response) = &mut self.end {
            response.finish = Some(finish);
        }
        self
    }

    /// The chunks, and the result at the end.
    pub(super) fn split(self) -> (Vec<Delta>, Result<LlmResponse, LlmError>) {
        let chunks = match (self.content, &self.end) {
            (Content::Chunks(chunks), _) => chunks,
            (Content::Complete, Ok(response)) => response
                .message
                .as_ref()
                .map(Delta::from_message)
                .unwrap_or_default(),
            (Content::Complete, Err(_)) => Vec::new(),
        };
        (chunks, self.end)
    }

    /// The complete response.
    pub(super) fn into_response(self) -> Result<LlmResponse, LlmError> {
        match self.content {
            Content::Complete => self.end,
            Content::Chunks(chunks) => {
                let mut accumulator = StreamAccumulator::new();
                chunks.iter().for_each(|chunk| accumulator.push(chunk));
                self.end.map(|rest| accumulator.finish(rest))
            }
        }
    }
}

impl From<Result<LlmResponse, LlmError>> for Reply {
    fn from(end: Result<LlmResponse, LlmError>) -> Self {
        Reply {
            before: Duration::ZERO,
            between: Duration::ZERO,
            content: Content::Complete,
            end,
        }
    }
}

impl From<LlmResponse> for Reply {
    fn from(response: LlmResponse) -> Self {
        Ok(response).into()
    }
}

impl From<LlmError> for Reply {
    fn from(error: LlmError) -> Self {
        Err(error).into()
    }
}

impl From<ToolCall> for Reply {
    fn from(call: ToolCall) -> Self {
        Self::from(LlmResponse::default()).and(Part::Call(call))
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Reply::text(text)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Reply::text(text)
    }
}
