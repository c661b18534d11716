//! The span of a turn.

use std::sync::Arc;

use tracing::Instrument as _;

use crate::definition::Definition;
use crate::{Conversation, ConversationInput};
use petalflow::async_trait;
use petalflow::middleware::{RunMiddleware, RunNext};
use petalflow::run::RunError;
use petalflow_tracing::agent_span;

/// Makes a span around each turn of an agent.
pub(super) struct TurnSpan(Arc<Definition>);

impl TurnSpan {
    pub(super) fn new(agent: &Arc<Definition>) -> Self {
        TurnSpan(Arc::clone(agent))
    }
}

#[async_trait]
impl RunMiddleware<Conversation> for TurnSpan {
    async fn around(
        &self,
        input: Option<ConversationInput>,
        next: RunNext<'_, Conversation>,
    ) -> Result<Conversation, RunError> {
        let description = Some(&*self.0.description).filter(|text| !text.is_empty());
        let span = agent_span(&self.0.name, description, next.thread());
        next.run(input).instrument(span).await
    }
}
