//! The trait of compaction policies.

use std::fmt;
use std::sync::Arc;

use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, async_trait};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, LlmResponse};

use crate::extension::{Position, position_methods};
use crate::tokens;

/// A policy for the messages that a model reads: see the [module](super).
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::{CompactionContext, Compactor, ContextSize};
/// use petalflow_llm::{ChatMessage, ScriptedModel};
///
/// /// Keeps six messages, and says how many are gone.
/// struct Counted;
///
/// #[async_trait]
/// impl Compactor for Counted {
///     fn is_due(&self, size: ContextSize) -> bool {
///         size.messages > 20
///     }
///
///     fn messages_to_keep(&self, _: &[ChatMessage]) -> usize {
///         6
///     }
///
///     async fn replace(&self, cut: &[ChatMessage], _: &CompactionContext<'_>) -> Result<Vec<ChatMessage>, BoxError> {
///         Ok(vec![ChatMessage::user(format!("({} messages are left out)", cut.len()))])
///     }
/// }
///
/// let agent = Agent::new(ScriptedModel::new(["hi"])).compaction(Counted);
/// # let _ = agent;
/// ```
#[async_trait]
pub trait Compactor: Send + Sync + 'static {
    /// Whether messages of this size are cut before the next request. It is called before each request.
    fn is_due(&self, size: ContextSize) -> bool;

    /// The number of messages at the end that stay. At least one stays. The cut moves so that a call stays with its
    /// result.
    fn messages_to_keep(&self, messages: &[ChatMessage]) -> usize;

    /// The messages that replace those that are cut. Those that replaced earlier ones are cut too. Default: none.
    ///
    /// # Errors
    ///
    /// An error ends the run. When it resumes, the compaction is tried again.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time: nothing was cut then.
    async fn replace(
        &self,
        cut: &[ChatMessage],
        cx: &CompactionContext<'_>,
    ) -> Result<Vec<ChatMessage>, BoxError> {
        let _ = (cut, cx);
        Ok(Vec::new())
    }
}

/// The size of the messages that a model would read. The instructions and the tools are not counted.
///
/// ```
/// use petalflow_agent::compaction::ContextSize;
/// use petalflow_llm::ChatMessage;
///
/// let size = ContextSize::of(&[ChatMessage::user("hello"), ChatMessage::assistant("hi")]);
/// assert_eq!((size.messages, size.tokens), (2, 11));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextSize {
    /// The number of messages.
    pub messages: usize,
    /// Their tokens, estimated as one token for four bytes.
    pub tokens: u64,
}

impl ContextSize {
    /// The size of these messages.
    pub fn of(messages: &[ChatMessage]) -> Self {
        ContextSize {
            messages: messages.len(),
            tokens: messages.iter().map(tokens::of_message).sum(),
        }
    }

    pub(crate) fn new(messages: usize, tokens: u64) -> Self {
        ContextSize { messages, tokens }
    }
}

/// What a compactor knows about the agent whose messages it cuts.
pub struct CompactionContext<'a> {
    position: Position<'a>,
    requests: &'a dyn Requests,
}

/// Makes requests that count as the conversation's.
pub(crate) trait Requests: Send + Sync {
    fn ask<'a>(
        &'a self,
        client: &'a Arc<dyn LlmClient>,
        request: LlmRequest,
    ) -> BoxFuture<'a, Result<LlmResponse, BoxError>>;
}

impl<'a> CompactionContext<'a> {
    pub(crate) fn new(position: Position<'a>, requests: &'a dyn Requests) -> Self {
        CompactionContext { position, requests }
    }

    position_methods!();

    /// Asks a model. The request counts in the conversation's [`usage`](crate::Conversation::usage), and the limits of the
    /// agent hold for it.
    ///
    /// # Errors
    ///
    /// A limit that the request would exceed, or the model's error.
    pub async fn ask(
        &self,
        client: &Arc<dyn LlmClient>,
        request: LlmRequest,
    ) -> Result<LlmResponse, BoxError> {
        self.requests.ask(client, request).await
    }
}

impl fmt::Debug for CompactionContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactionContext")
            .field("agent", &self.agent())
            .finish_non_exhaustive()
    }
}
