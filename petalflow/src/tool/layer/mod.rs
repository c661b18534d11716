//! Layers around tools: retries, timeouts, limits, caches, and your own implementations of [`ToolLayer`].
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::layer::{RateLimit, RetryLayer};
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
//! // The last layer is the outermost: it waits its turn once, and then tries up to three times.
//! let polite = fetch {}
//!     .layer(RetryLayer::new([Retry::times(3)]))
//!     .layer(RateLimit::new(10, Duration::from_secs(1)));
//! let text = polite.call(json!({ "url": "petals.example" }), &ToolContext::new("1")).await.unwrap();
//! assert_eq!(text, "the text at petals.example");
//! # }
//! ```

mod breaker;
mod cached;
mod checked;
mod observed;
mod only_if;
mod rate_limit;
mod retried;
mod timed;

pub use breaker::CircuitBreaker;
pub use cached::Cached;
pub use checked::Checked;
pub use observed::{Observed, Report};
pub use only_if::OnlyIf;
pub use rate_limit::RateLimit;
pub use retried::RetryLayer;
pub use timed::TimeoutLayer;

pub use super::{Layered, ToolLayer};
