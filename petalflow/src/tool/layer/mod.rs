//! Layers around tools: retries, timeouts, caches, and your own implementations of [`ToolLayer`]. `petalflow-layers` has rate
//! limits, circuit breakers, conditions and hooks.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::layer::{RetryLayer, TimeoutLayer};
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
//! // The last layer is the outermost: it limits the time of all three attempts together.
//! let polite = fetch {}
//!     .layer(RetryLayer::new([Retry::times(3)]))
//!     .layer(TimeoutLayer::new(Duration::from_secs(10)));
//! let text = polite.call(json!({ "url": "petals.example" }), &ToolContext::new("1")).await.unwrap();
//! assert_eq!(text, "the text at petals.example");
//! # }
//! ```

mod cache;
mod retry;
mod timeout;

pub use cache::Cached;
pub use retry::RetryLayer;
pub use timeout::TimeoutLayer;

pub use super::{Layered, ToolLayer};
