//! What an answer took.

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer, thoughts among them.
    pub output: u64,
    /// All of them, as the provider counts.
    pub total: u64,
    /// Of those of the request, the ones that the provider had in its cache.
    #[serde(default)]
    pub cached: u64,
    /// Of those of the answer, the ones that the model thought with.
    #[serde(default)]
    pub reasoning: u64,
    /// In US dollars; 0 where the price is not known.
    #[serde(default)]
    pub cost: f64,
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.total += other.total;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
        self.cost += other.cost;
    }
}

impl Sum for TokenUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |mut all, one| {
            all += one;
            all
        })
    }
}
