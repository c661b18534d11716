//! Prices of tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::TokenUsage;

/// The price of a model's tokens, in US dollars per million.
///
/// ```
/// use petalflow_llm::TokenUsage;
/// use petalflow_llm::usage::Price;
///
/// let price = Price { input: 2.0, cached: 0.5, output: 8.0, ..Price::default() };
/// let usage = TokenUsage { input: 1_000, cached: 400, output: 100, ..TokenUsage::default() };
/// assert!((price.cost(&usage) - 0.0022).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The price of request tokens.
    pub input: f64,
    /// The price of request tokens that came from the provider's cache.
    pub cached: f64,
    /// The price of response tokens.
    pub output: f64,
    /// The price of request tokens that were written to the provider's cache. `None`: that of other request tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// The price of request tokens that were written to a cache which keeps them for an hour. `None`: that of other writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<f64>,
    /// The price of request tokens that are audio. `None`: that of other request tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_audio: Option<f64>,
    /// The price of response tokens that were used for reasoning. `None`: that of other response tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<f64>,
    /// The price of response tokens that are audio. `None`: that of other response tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_audio: Option<f64>,
}

impl Price {
    /// The cost of these tokens, in US dollars.
    pub fn cost(&self, usage: &TokenUsage) -> f64 {
        let write = self.cache_write.unwrap_or(self.input);
        let long_writes = usage.cache_writes_1h.min(usage.cache_writes);
        let input = [
            (usage.cached, self.cached),
            (long_writes, self.cache_write_1h.unwrap_or(write)),
            (usage.cache_writes - long_writes, write),
            (usage.input_audio, self.input_audio.unwrap_or(self.input)),
        ];
        let output = [
            (usage.reasoning, self.reasoning.unwrap_or(self.output)),
            (usage.output_audio, self.output_audio.unwrap_or(self.output)),
        ];
        let cost =
            priced(usage.input, self.input, &input) + priced(usage.output, self.output, &output);
        cost / 1e6
    }

    /// The highest price that a request token may have.
    pub fn highest_input(&self) -> f64 {
        let others = [self.cache_write, self.cache_write_1h, self.input_audio];
        others.into_iter().flatten().fold(self.input, f64::max)
    }

    /// The highest price that a response token may have.
    pub fn highest_output(&self) -> f64 {
        let others = [self.reasoning, self.output_audio];
        others.into_iter().flatten().fold(self.output, f64::max)
    }
}

/// The price of tokens of which some have prices of their own.
#[expect(
    clippy::cast_precision_loss,
    reason = "no count of tokens comes near 2^52"
)]
fn priced(all: u64, price: f64, special: &[(u64, f64)]) -> f64 {
    let (mut left, mut cost) = (all, 0.0);
    for (count, price) in special {
        let count = left.min(*count);
        left -= count;
        cost += count as f64 * price;
    }
    cost + left as f64 * price
}

/// The prices of models, by name.
///
/// A name is a prefix: `gpt-5-mini` also prices `gpt-5-mini-2026-08-07`. The longest matching name is used.
///
/// ```
/// use petalflow_llm::usage::{Price, Prices};
///
/// let prices = Prices::new()
///     .with("gpt-5", Price { input: 1.25, cached: 0.125, output: 10.0, ..Price::default() })
///     .with("gpt-5-mini", Price { input: 0.25, cached: 0.025, output: 2.0, ..Price::default() });
/// assert_eq!(prices.get("gpt-5-mini-2026-08-07").unwrap().output, 2.0);
/// assert_eq!(prices.get("claude"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// An empty list of prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the price of a model.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.0.insert(model.into(), price);
        self
    }

    /// The price of a model.
    pub fn get(&self, model: &str) -> Option<Price> {
        self.0
            .iter()
            .filter(|(name, _)| model.starts_with(name.as_str()))
            .max_by_key(|(name, _)| name.len())
            .map(|(_, price)| *price)
    }

    /// Returns all prices, each with the name that [`with`](Self::with) was given.
    ///
    /// ```
    /// use petalflow_llm::usage::{Price, Prices};
    ///
    /// let prices = Prices::new().with("gpt-5", Price { input: 1.25, output: 10.0, ..Price::default() });
    /// assert!(prices.iter().all(|(name, price)| name == "gpt-5" && price.output == 10.0));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, Price)> {
        self.0.iter().map(|(name, price)| (name.as_str(), *price))
    }
}
