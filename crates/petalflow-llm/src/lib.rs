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

mod client;
mod llm_error;
pub mod message;
pub mod native;
pub mod nodes;
#[cfg(feature = "providers")]
mod provider;
pub mod request;
pub mod response;
pub mod schema;
mod scripted;
#[cfg(any(feature = "providers", feature = "testing"))]
mod secrets;
pub mod stream;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub mod tls;
pub mod usage;
#[cfg(feature = "voice")]
#[cfg_attr(docsrs, doc(cfg(feature = "voice")))]
pub use provider::voice;

pub use client::{Allowed, Capabilities, FallbackModel, LlmClient, Retrying, ThinkTags};
pub use llm_error::{LlmError, LlmErrorKind};
pub use message::call_id::generated_call_id;
pub use message::chat_message::{ChatMessage, Part, Role};
#[cfg(feature = "bedrock")]
#[cfg_attr(docsrs, doc(cfg(feature = "bedrock")))]
pub use provider::AwsCredentials;
#[cfg(feature = "providers")]
#[cfg_attr(docsrs, doc(cfg(feature = "providers")))]
pub use provider::{AccessToken, AzureApi, ProviderModel};
pub use request::llm_request::LlmRequest;
pub use response::llm_response::LlmResponse;
pub use response::token_usage::TokenUsage;
pub use scripted::{Reply, ScriptedModel};
pub use stream::llm_stream::LlmStream;

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
