//! What the code of [`flow_from!`](crate::flow_from) names.

pub use petalflow::tool::Tool;
pub use petalflow_document_macros::flow_from_impl;
pub use petalflow_llm::LlmClient;

pub use crate::kinds::{EnvelopeNode, HumanHandler};

/// The type of the flows of documents.
pub type Flow = crate::builder::EnvelopeFlow;
