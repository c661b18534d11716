//! Prices of tokens, and limits on their number and cost. See [`TokenUsage`](crate::TokenUsage).

mod budget;
mod price;
mod token_count;

pub use budget::Budget;
pub use price::{Price, Prices};
pub use token_count::TokenCount;
