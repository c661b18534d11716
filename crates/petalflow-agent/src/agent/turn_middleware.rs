//! What is around each turn of an agent: its span, and the name of the agent in its errors.

use std::sync::Arc;

use crate::definition::Definition;
use crate::{Conversation, ConversationInput};
use petalflow::async_trait;
use petalflow::middleware::{RunMiddleware, RunNext};
use petalflow::run::RunError;

/// Makes a span around each turn, and names the agent in the errors of its nodes, which its users do not know.
pub(super) struct TurnMiddleware(Arc<Definition>);

impl TurnMiddleware {
    pub(super) fn new(agent: &Arc<Definition>) -> Self {
        TurnMiddleware(Arc::clone(agent))
    }
}

#[async_trait]
impl RunMiddleware<Conversation> for TurnMiddleware {
    async fn around(
        &self,
        input: Option<ConversationInput>,
        next: RunNext<'_, Conversation>,
    ) -> Result<Conversation, RunError> {
        #[cfg(feature = "tracing")]
        let ran = {
            use crate::agent_spans::{AgentSpans, span_of};
            let span = span_of(&self.0, next.thread());
            AgentSpans::scope(&self.0, span, next.run(input)).await
        };
        #[cfg(not(feature = "tracing"))]
        let ran = next.run(input).await;
        ran.map_err(|error| error.with_subject(format!("agent `{}`", self.0.name)))
    }
}
