//! Policies that keep the newest messages.

use super::{Compactor, ContextSize};
use crate::tokens;
use petalflow::async_trait;
use petalflow_llm::ChatMessage;

/// Keeps the newest messages by their number: a model reads at most `max` messages.
///
/// When there are more, half of `max` stay. So the start of the requests stays the same for many requests, and the
/// provider's prompt cache can be used.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::LastMessages;
/// # use petalflow_llm::ScriptedModel;
///
/// # let model = ScriptedModel::new(["hi"]);
/// let agent = Agent::new(model).compaction(LastMessages::new(40).keep(10));
/// # let _ = agent;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastMessages {
    max: usize,
    keep: usize,
}

impl LastMessages {
    /// At most `max` messages.
    ///
    /// # Panics
    ///
    /// If `max` is less than 4: a request, a call and its result would not fit.
    pub fn new(max: usize) -> Self {
        assert!(
            max >= 4,
            "`LastMessages` must keep at least 4 messages, and {max} were given"
        );
        LastMessages { max, keep: max / 2 }
    }

    /// Sets the number of messages that stay when there are more than `max`.
    #[must_use]
    pub fn keep(mut self, messages: usize) -> Self {
        self.keep = messages.clamp(1, self.max);
        self
    }
}

#[async_trait]
impl Compactor for LastMessages {
    fn is_due(&self, size: ContextSize) -> bool {
        size.messages > self.max
    }

    fn messages_to_keep(&self, _: &[ChatMessage]) -> usize {
        self.keep
    }
}

/// Keeps the newest messages by their estimated tokens: a model reads at most `max` tokens of messages.
///
/// When there are more, half of `max` stay. Leave room in the window of the model for the instructions, the tools and the
/// answer. A last message that is longer than the window stays whole.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::TokenWindow;
/// # use petalflow_llm::ScriptedModel;
///
/// # let model = ScriptedModel::new(["hi"]);
/// let agent = Agent::new(model).compaction(TokenWindow::new(100_000).keep(20_000));
/// # let _ = agent;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenWindow {
    max: u64,
    keep: u64,
}

impl TokenWindow {
    /// At most `max` tokens.
    pub fn new(max: u64) -> Self {
        TokenWindow { max, keep: max / 2 }
    }

    /// Sets the number of tokens that stay when there are more than `max`.
    #[must_use]
    pub fn keep(mut self, tokens: u64) -> Self {
        self.keep = tokens.min(self.max);
        self
    }
}

#[async_trait]
impl Compactor for TokenWindow {
    fn is_due(&self, size: ContextSize) -> bool {
        size.tokens > self.max
    }

    fn messages_to_keep(&self, messages: &[ChatMessage]) -> usize {
        let mut left = self.keep;
        let fits = |message: &&ChatMessage| {
            let fits = left.checked_sub(tokens::of_message(message));
            left = fits.unwrap_or(0);
            fits.is_some()
        };
        messages.iter().rev().take_while(fits).count()
    }
}
