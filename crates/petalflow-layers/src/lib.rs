//! Layers around tools and nodes of petalflow: limits, conditions and hooks.
//!
//! | layer | what it does |
//! | --- | --- |
//! | [`RateLimit`] | limits the rate of calls; one that exceeds it waits |
//! | [`CircuitBreaker`] | rejects calls of a tool or node that keeps failing |
//! | [`ArgumentCheck`], [`CallCondition`] | reject calls by their arguments, or by a condition |
//! | [`CallObserver`] | calls a function after each call |
//!
//! All are [layers of tools](petalflow::tool::layer::ToolLayer). The first two are also
//! [middleware](petalflow::Middleware) for nodes. Retries, timeouts and caches of tools are in
//! [`petalflow::tool::layer`]; those of nodes are options of the node. Logs, times and counts of nodes are in
//! `petalflow-tracing`.
//!
//! ```
//! use petalflow::policy::Retry;
//! use petalflow::prelude::*;
//! use petalflow::tool::layer::RetryLayer;
//! use petalflow::tool::{Tool, ToolContext};
//! use petalflow_layers::RateLimit;
//! use serde_json::json;
//! use std::time::Duration;
//!
//! /// Fetches a page.
//! #[tool]
//! async fn fetch(url: String) -> petalflow::Result<String> {
//!     Ok(format!("the text at {url}"))
//! }
//!
//! # #[state]
//! # struct Essay { draft: String }
//! # #[node(Essay)]
//! # async fn write() -> EssayDraft { EssayDraft("…".into()) }
//! # flow!(Write(Essay) { write });
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! // The last layer is the outermost: it waits for the rate limit once, and then tries up to three times.
//! let limited = fetch {}
//!     .layer(RetryLayer::new([Retry::times(3)]))
//!     .layer(RateLimit::new(10, Duration::from_secs(1)));
//! let text = limited.call(json!({ "url": "petals.example" }), &ToolContext::new("1")).await.unwrap();
//! assert_eq!(text, "the text at petals.example");
//!
//! // The same around all nodes of a flow.
//! Write::new().middleware(RateLimit::new(10, Duration::from_secs(1))).run(()).await?;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod argument_check;
mod call_condition;
mod call_observer;
mod circuit_breaker;
mod rate_limit;

pub use argument_check::ArgumentCheck;
pub use call_condition::CallCondition;
pub use call_observer::{CallObserver, CallReport};
pub use circuit_breaker::CircuitBreaker;
pub use rate_limit::RateLimit;
