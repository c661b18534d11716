//! The events and chunks of an [`LlmStream`](crate::LlmStream).

mod accumulator;
mod delta;
mod json_path;
pub(crate) mod llm_stream;

pub use accumulator::StreamAccumulator;
pub use delta::Delta;
pub use llm_stream::{StreamChunk, StreamEvent, StreamSource};
