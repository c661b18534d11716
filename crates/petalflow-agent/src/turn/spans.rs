//! Spans of agents, of models, of tools and of merged results. Without the feature `tracing` there are none.

use std::sync::Arc;

use super::ctx::Ctx;
use crate::AgentEvent;
use crate::definition::Definition;
use petalflow::tool::Tool;
use petalflow_llm::LlmClient;

#[cfg(feature = "tracing")]
mod implementation {
    use super::{AgentEvent, Arc, Ctx, Definition, LlmClient, Tool};
    use crate::agent_spans::{AgentSpans, span_of};
    use petalflow_tracing::{Traced, merged_span};
    use tracing::Instrument as _;

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Traced::new(Arc::clone(client))
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Traced::new(Arc::clone(tool))
    }

    pub(crate) fn merged(results: &AgentEvent) {
        merged_span(results.results(), &results.id, false);
    }

    /// Runs a step in the span of its agent.
    pub(crate) async fn step<F: Future>(ctx: Ctx<'_>, step: F) -> F::Output {
        match AgentSpans::current(ctx.agent()) {
            Some(span) => step.instrument(span).await,
            None => step.await,
        }
    }

    /// Runs the call of an agent in a span of that agent.
    pub(crate) async fn called<F: Future>(agent: &Arc<Definition>, call: F) -> F::Output {
        AgentSpans::scope(agent, span_of(agent, None), call).await
    }
}

#[cfg(not(feature = "tracing"))]
mod implementation {
    use super::{AgentEvent, Arc, Ctx, Definition, LlmClient, Tool};

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Arc::clone(client)
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Arc::clone(tool)
    }

    pub(crate) fn merged(_: &AgentEvent) {}

    pub(crate) fn step<F: Future>(_: Ctx<'_>, step: F) -> F {
        step
    }

    pub(crate) fn called<F: Future>(_: &Arc<Definition>, call: F) -> F {
        call
    }
}

pub(super) use implementation::{called, merged, model, step, tool};
