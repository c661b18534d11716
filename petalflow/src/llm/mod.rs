//! Language models: what is said to them, what they answer, and the trait that providers implement.
//!
//! Nothing here opens a connection. A provider is an [`LlmClient`].

mod client;
mod error;
mod message;
mod request;
mod response;
mod stream;
mod usage;

pub use client::{Capabilities, LlmClient};
pub use error::{LlmError, LlmErrorKind};
pub use message::{ChatMessage, Media, MediaSource, Part, Role, Text};
pub use request::{Effort, LlmRequest, ToolChoice};
pub use response::{FinishReason, LlmResponse, Reasoning, Status};
pub use stream::{Delta, LlmStream, StreamChunk};
pub use usage::TokenUsage;

pub use crate::tool::{ToolCall, ToolResult};
