//! The usage of a conversation.

use std::ops::{Add, AddAssign};

use petalflow_llm::TokenUsage;
use serde::{Deserialize, Serialize};

/// What a conversation has used: see [`Conversation::usage`](crate::Conversation::usage).
///
/// Requests that failed are not counted.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_llm::{Reply, ScriptedModel, TokenUsage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let tokens = TokenUsage { input: 3, output: 1, total: 4, ..TokenUsage::default() };
/// let agent = Agent::new(ScriptedModel::new([Reply::text("hi").with_usage(tokens)]));
/// let usage = agent.run("hello").await?.usage();
/// assert_eq!((usage.requests, usage.tool_calls, usage.tokens.total), (1, 0, 4));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// The number of requests to models.
    pub requests: u64,
    /// The number of calls of tools and of agents that models asked for. The tools by which an agent transfers the
    /// conversation or gives its answer are not counted.
    pub tool_calls: u64,
    /// The tokens, and their cost.
    pub tokens: TokenUsage,
}

impl Usage {
    /// Whether nothing was used.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What was used since `start`, which is an earlier value of the same count.
    pub(crate) fn since(self, start: &Self) -> Self {
        let (now, then) = (self.tokens, start.tokens);
        Usage {
            requests: self.requests.saturating_sub(start.requests),
            tool_calls: self.tool_calls.saturating_sub(start.tool_calls),
            tokens: TokenUsage {
                input: now.input.saturating_sub(then.input),
                output: now.output.saturating_sub(then.output),
                total: now.total.saturating_sub(then.total),
                cached: now.cached.saturating_sub(then.cached),
                cache_writes: now.cache_writes.saturating_sub(then.cache_writes),
                cache_writes_1h: now.cache_writes_1h.saturating_sub(then.cache_writes_1h),
                input_audio: now.input_audio.saturating_sub(then.input_audio),
                reasoning: now.reasoning.saturating_sub(then.reasoning),
                output_audio: now.output_audio.saturating_sub(then.output_audio),
                cost: now.cost - then.cost,
            },
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.tokens += other.tokens;
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
