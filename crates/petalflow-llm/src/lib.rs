//! Language models: requests, responses, and the trait that providers implement.
//!
//! These types open no connections: a provider is an [`LlmClient`]. [`ScriptedModel`] answers from a script, for tests
//! and for programs that run without a key.
//!
//! ```
//! use petalflow_llm::{LlmClient, LlmError, LlmRequest, ScriptedModel};
//! use petalflow_llm::usage::Budget;
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
mod call_id;
mod capabilities;
mod chat_message;
mod check;
mod delta;
mod json_path;
mod llm_client;
mod llm_error;
mod llm_request;
mod llm_response;
mod llm_stream;
pub mod nodes;
mod price;
#[cfg(feature = "providers")]
mod provider;
mod retrying;
pub mod schema;
mod scripted;
#[cfg(any(feature = "providers", feature = "testing"))]
mod secrets;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub mod tls;
mod token_count;
mod token_usage;
mod transcript;

pub use call_id::generated_call_id;
pub use capabilities::Capabilities;
pub use chat_message::{ChatMessage, Part, Role};
pub use llm_client::LlmClient;
pub use llm_error::{LlmError, LlmErrorKind};
pub use llm_request::LlmRequest;
pub use llm_response::LlmResponse;
pub use llm_stream::LlmStream;
#[cfg(feature = "providers")]
#[cfg_attr(docsrs, doc(cfg(feature = "providers")))]
pub use provider::ProviderModel;
pub use retrying::Retrying;
pub use scripted::{Reply, ScriptedModel};
pub use token_usage::TokenUsage;

/// The names that most programs over models use, and those that script a model in a test: `use petalflow_llm::prelude::*;`.
///
/// ```
/// use petalflow_llm::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let model = ScriptedModel::new([Reply::text("Paris")]);
/// assert_eq!(model.complete(&LlmRequest::prompt("France?")).await?.text(), "Paris");
/// # Ok(())
/// # }
/// ```
pub mod prelude {
    pub use crate::{
        ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part, Reply, Role,
        ScriptedModel,
    };
}

/// What a [`ChatMessage`] contains.
pub mod message {
    pub use crate::chat_message::{Media, MediaSource, ParseRoleError, Text};
}

/// The options of an [`LlmRequest`].
pub mod request {
    pub use crate::llm_request::{Effort, PromptCache, ToolChoice};
}

/// The properties of an [`LlmResponse`].
pub mod response {
    pub use crate::llm_response::{FinishReason, Reasoning, Status};
}

/// The events and chunks of an [`LlmStream`].
pub mod stream {
    pub use crate::accumulator::StreamAccumulator;
    pub use crate::delta::Delta;
    pub use crate::llm_stream::{StreamChunk, StreamEvent, StreamSource};
}

/// Prices of tokens, and limits on their number and cost. See [`TokenUsage`].
pub mod usage {
    pub use crate::budget::Budget;
    pub use crate::price::{Price, Prices};
    pub use crate::token_count::TokenCount;
}
