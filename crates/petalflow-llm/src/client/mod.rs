//! The trait that providers implement, and its wrapper that repeats requests.

mod capabilities;
mod llm_client;
mod retrying;

pub use capabilities::Capabilities;
pub use llm_client::LlmClient;
pub use retrying::Retrying;
