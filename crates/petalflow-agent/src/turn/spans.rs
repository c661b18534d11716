//! Spans of models, of tools and of merged results. Without the feature `tracing` there are none.

use std::sync::Arc;

use crate::AgentEvent;
use petalflow::tool::Tool;
use petalflow_llm::LlmClient;

#[cfg(feature = "tracing")]
mod spans {
    use super::{AgentEvent, Arc, LlmClient, Tool};
    use petalflow_tracing::{Traced, merged_span};

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Traced::new(Arc::clone(client))
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Traced::new(Arc::clone(tool))
    }

    pub(crate) fn merged(results: &AgentEvent) {
        merged_span(results.results(), &results.id, false);
    }
}

#[cfg(not(feature = "tracing"))]
mod spans {
    use super::{AgentEvent, Arc, LlmClient, Tool};

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Arc::clone(client)
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Arc::clone(tool)
    }

    pub(crate) fn merged(_: &AgentEvent) {}
}

pub(super) use spans::{merged, model, tool};
