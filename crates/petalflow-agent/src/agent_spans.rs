//! The spans of the agents of a turn.

use std::sync::{Arc, Mutex, PoisonError};

use tracing::{Instrument as _, Span};

use crate::definition::Definition;
use petalflow_tracing::agent_span;

tokio::task_local! {
    /// The spans of the turn, or of the call of an agent, that runs now.
    static SPANS: AgentSpans;
}

/// The span of the agent with which a turn or a call began, and that of the agent to which it was handed over.
pub(crate) struct AgentSpans {
    first: Arc<str>,
    first_span: Span,
    other: Mutex<Option<(Arc<str>, Span)>>,
}

impl AgentSpans {
    /// Runs a turn, or a call, that begins with this agent.
    pub(crate) async fn scope<F: Future>(agent: &Definition, span: Span, run: F) -> F::Output {
        let spans = AgentSpans {
            first: Arc::clone(&agent.name),
            first_span: span.clone(),
            other: Mutex::new(None),
        };
        SPANS.scope(spans, run).instrument(span).await
    }

    /// The span for a step of this agent, unless the step is in it already: that of an agent to which the turn was handed
    /// over begins with its first step, and ends with the turn or with the next hand-over.
    pub(crate) fn current(agent: &Definition) -> Option<Span> {
        SPANS.try_with(|spans| spans.span(agent)).ok().flatten()
    }

    fn span(&self, agent: &Definition) -> Option<Span> {
        // No code panics while it holds the lock.
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        if agent.name == self.first {
            *other = None;
            return None;
        }
        if let Some((name, span)) = &*other
            && *name == agent.name
        {
            return Some(span.clone());
        }
        // The earlier one ends before the next one begins.
        *other = None;
        let span = self.first_span.in_scope(|| span_of(agent, None));
        *other = Some((Arc::clone(&agent.name), span.clone()));
        Some(span)
    }
}

/// A new span of this agent.
pub(crate) fn span_of(agent: &Definition, thread: Option<&str>) -> Span {
    let description = Some(&*agent.description).filter(|text| !text.is_empty());
    agent_span(&agent.name, description, thread)
}
