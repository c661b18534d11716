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
/// let price = Price { input: 2.0, cached: 0.5, output: 8.0 };
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
}

impl Price {
    /// The cost of these tokens, in US dollars.
    #[expect(
        clippy::cast_precision_loss,
        reason = "no count of tokens comes near 2^52"
    )]
    pub fn cost(&self, usage: &TokenUsage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let uncached = usage.input - cached;
        (uncached as f64 * self.input
            + cached as f64 * self.cached
            + usage.output as f64 * self.output)
            / 1e6
    }
}

/// The prices of models, by name.
///
/// A name is a prefix: `gpt-5-mini` also prices `gpt-5-mini-2026-08-07`. The longest matching name is used.
///
/// ```
/// use petalflow_llm::usage::{Price, Prices};
///
/// let prices = Prices::new()
///     .with("gpt-5", Price { input: 1.25, cached: 0.125, output: 10.0 })
///     .with("gpt-5-mini", Price { input: 0.25, cached: 0.025, output: 2.0 });
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
}
