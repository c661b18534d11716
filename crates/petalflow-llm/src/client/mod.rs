//! The trait that providers implement, and its wrappers that repeat requests and that ask another model.

mod capabilities;
mod fallback;
mod llm_client;
mod retrying;

pub use capabilities::{Allowed, Capabilities, ThinkTags};
pub use fallback::FallbackModel;
pub use llm_client::LlmClient;
pub use retrying::Retrying;
