//! Layers around tools: limits, conditions, hooks, and your own implementations of [`ToolLayer`].
//!
//! | layer | what it does |
//! | --- | --- |
//! | [`RetryLayer`] | calls a failing tool again |
//! | [`TimeoutLayer`] | limits the time of a call |
//! | [`Cached`] | stores results of calls with the same arguments |
//! | [`RateLimit`] | limits the rate of calls; one that exceeds it waits |
//! | [`CircuitBreaker`] | rejects calls of a tool that keeps failing |
//! | [`ArgumentCheck`], [`CallCondition`] | reject calls by their arguments, or by a condition |
//! | [`ConfirmLayer`] | requires a person's confirmation where a tool is used |
//! | [`CallObserver`] | calls a function after each call |
//!
//! [`RateLimit`] and [`CircuitBreaker`] are also [middleware](crate::middleware) for nodes.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::layer::{RateLimit, RetryLayer, TimeoutLayer};
//! use petalflow::tool::{Tool, ToolContext};
//! use petalflow::policy::Retry;
//! use serde_json::json;
//! use std::time::Duration;
//!
//! /// Fetches a page.
//! #[tool]
//! async fn fetch(url: String) -> petalflow::Result<String> {
//!     Ok(format!("the text at {url}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // The last layer is the outermost: it waits for the rate limit once. The timeout limits all three attempts together.
//! let polite = fetch {}
//!     .layer(RetryLayer::new([Retry::attempts(3)]))
//!     .layer(TimeoutLayer::new(Duration::from_secs(10)))
//!     .layer(RateLimit::new(10, Duration::from_secs(1)));
//! let text = polite.call(json!({ "url": "petals.example" }), &ToolContext::new("1")).await.unwrap();
//! assert_eq!(text, "the text at petals.example");
//! # }
//! ```

mod argument_check;
mod cache;
mod call_condition;
mod call_observer;
mod circuit_breaker;
mod confirm;
mod rate_limit;
mod retry;
mod timeout;

pub use crate::middleware::{CircuitBreaker, RateLimit};
pub use argument_check::ArgumentCheck;
pub use cache::Cached;
pub use call_condition::CallCondition;
pub use call_observer::{CallObserver, CallReport};
pub use confirm::ConfirmLayer;
pub use retry::RetryLayer;
pub use timeout::TimeoutLayer;

pub use super::{Layered, ToolLayer};
