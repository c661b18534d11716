//! The options of an [`LlmRequest`](crate::LlmRequest).

pub(crate) mod llm_request;
mod response_check;
mod transcript;

pub use llm_request::{Effort, PromptCache, ToolChoice};
