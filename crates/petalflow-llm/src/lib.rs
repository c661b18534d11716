//! Language models: requests, responses, and the trait that providers implement.
//!
//! These types open no connections: a provider is an [`LlmClient`]. [`ScriptedModel`] answers from a script, for tests
//! and for programs that run without a key.
//!
//! ```
//! use petalflow_llm::{Budget, LlmClient, LlmError, LlmRequest, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), LlmError> {
//! let model = ScriptedModel::new(["Paris"]);
//! let response = model.complete(&LlmRequest::prompt("What is the capital of France?")).await?;
//! assert_eq!(response.text(), "Paris");
//! Budget { total: 1_000, ..Budget::UNLIMITED }.check(&response.usage)?;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod accumulator;
mod budget;
mod check;
mod client;
mod delta;
mod error;
mod json_path;
mod message;
pub mod nodes;
mod price;
#[cfg(feature = "providers")]
mod provider;
mod request;
mod response;
mod retrying;
mod scripted;
mod stream;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub mod tls;
mod usage;

pub use accumulator::StreamAccumulator;
pub use budget::Budget;
pub use client::{Capabilities, LlmClient};
pub use delta::Delta;
pub use error::{LlmError, LlmErrorKind};
pub use message::{ChatMessage, Media, MediaSource, ParseRoleError, Part, Role, Text};
pub use price::{Price, Prices};
#[cfg(feature = "providers")]
#[cfg_attr(docsrs, doc(cfg(feature = "providers")))]
pub use provider::ProviderModel;
pub use request::{Effort, LlmRequest, ToolChoice};
pub use response::{FinishReason, LlmResponse, Reasoning, Status};
pub use retrying::Retrying;
pub use scripted::{Reply, ScriptedModel};
pub use stream::{LlmStream, StreamChunk, StreamEvent, StreamSource};
pub use usage::TokenUsage;
