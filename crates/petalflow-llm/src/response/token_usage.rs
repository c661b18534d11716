//! The tokens that responses used.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// A number of tokens, and their cost.
///
/// ```
/// use petalflow_llm::TokenUsage;
///
/// let call = TokenUsage { input: 900, output: 100, total: 1_000, ..TokenUsage::default() };
/// let all: TokenUsage = [call, call].into_iter().sum();
/// assert_eq!((all.input, all.output, all.total), (1_800, 200, 2_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the response, including reasoning.
    pub output: u64,
    /// All tokens, as the provider counts them.
    pub total: u64,
    /// The tokens of the request that came from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// The tokens of the request that were written to the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_writes: u64,
    /// Those of them that the cache keeps for an hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_writes_1h: u64,
    /// The tokens of the request that are audio.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_audio: u64,
    /// The tokens of the response that were used for reasoning.
    #[serde(default)]
    pub reasoning: u64,
    /// The tokens of the response that are audio.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_audio: u64,
    /// The cost in US dollars: that of the provider, if it sends one, or that of the prices. 0 if neither is known.
    #[serde(default)]
    pub cost: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AddAssign for TokenUsage {
    // A provider may report sums that overflow.
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.total = self.total.saturating_add(other.total);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_writes = self.cache_writes.saturating_add(other.cache_writes);
        self.cache_writes_1h = self.cache_writes_1h.saturating_add(other.cache_writes_1h);
        self.input_audio = self.input_audio.saturating_add(other.input_audio);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.output_audio = self.output_audio.saturating_add(other.output_audio);
        self.cost += other.cost;
    }
}

impl Add for TokenUsage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for TokenUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}
