//! A function of the program that replaces messages.

use std::fmt;

use super::{CompactionContext, Compactor, ContextSize};
use petalflow::{BoxError, async_trait};
use petalflow_llm::ChatMessage;

/// Replaces the messages that another policy cuts with those of a function.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::{LastMessages, Replaced};
/// use petalflow_llm::{ChatMessage, Role};
/// # use petalflow_llm::ScriptedModel;
///
/// # let model = ScriptedModel::new(["hi"]);
/// let questions = Replaced::new(LastMessages::new(40), |cut: Vec<ChatMessage>| async move {
///     // The user's questions stay.
///     Ok(cut.into_iter().filter(|message| message.role == Role::User).collect())
/// });
/// let agent = Agent::new(model).compaction(questions);
/// # let _ = agent;
/// ```
pub struct Replaced<W, F> {
    window: W,
    replace: F,
}

impl<W, F, Fut> Replaced<W, F>
where
    W: Compactor,
    F: Fn(Vec<ChatMessage>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<ChatMessage>, BoxError>> + Send,
{
    /// Cuts as `window` does, and replaces what is cut with what `replace` returns.
    pub fn new(window: W, replace: F) -> Self {
        Replaced { window, replace }
    }
}

#[async_trait]
impl<W, F, Fut> Compactor for Replaced<W, F>
where
    W: Compactor,
    F: Fn(Vec<ChatMessage>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<ChatMessage>, BoxError>> + Send,
{
    fn is_due(&self, size: ContextSize) -> bool {
        self.window.is_due(size)
    }

    fn messages_to_keep(&self, messages: &[ChatMessage]) -> usize {
        self.window.messages_to_keep(messages)
    }

    async fn replace(
        &self,
        cut: &[ChatMessage],
        _: &CompactionContext<'_>,
    ) -> Result<Vec<ChatMessage>, BoxError> {
        (self.replace)(cut.to_vec()).await
    }
}

impl<W: fmt::Debug, F> fmt::Debug for Replaced<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaced")
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
