//! The events and chunks of an [`LlmStream`](crate::LlmStream).

mod accumulator;
mod delta;
mod free_text;
mod json_path;
mod json_text;
pub(crate) mod llm_stream;
mod partial_json;

pub use accumulator::StreamAccumulator;
pub use delta::Delta;
pub use llm_stream::{StreamChunk, StreamEvent, StreamSource};
pub use partial_json::PartialJson;
