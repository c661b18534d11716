//! The properties of an [`LlmResponse`](crate::LlmResponse).

pub(crate) mod llm_response;
pub(crate) mod token_usage;

pub use llm_response::{FinishReason, Reasoning, Status};
