//! The options of an [`LlmRequest`](crate::LlmRequest).

pub(crate) mod llm_request;
mod parts;
mod response_check;
mod transcript;
mod typed_output;

pub use llm_request::{Effort, OnPause, PromptCache, ToolChoice};
pub use typed_output::TypedOutput;
