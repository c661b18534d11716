//! The spans of agents, models and tools. Without the feature `tracing` there are none.

use std::sync::Arc;

use super::{AgentEvent, AgentFlow, Definition};
use petalflow::Launch;
use petalflow::tool::Tool;
use petalflow_llm::LlmClient;

#[cfg(feature = "tracing")]
mod spans {
    use tracing::Instrument as _;

    use super::{AgentEvent, AgentFlow, Arc, Definition, Launch, LlmClient, Tool};
    use crate::{Conversation, ConversationInput};
    use petalflow::RunError;
    use petalflow::async_trait;
    use petalflow::middleware::{RunMiddleware, RunNext};
    use petalflow_llm::ChatMessage;
    use petalflow_tracing::{Traced, agent_span, merged_span};

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Traced::new(Arc::clone(client))
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Traced::new(Arc::clone(tool))
    }

    pub(crate) fn merged(results: &AgentEvent) {
        let all = results.message.iter().flat_map(ChatMessage::tool_results);
        merged_span(all, &results.id, false);
    }

    pub(crate) fn agent(launch: Launch<AgentFlow>, agent: &Arc<Definition>) -> Launch<AgentFlow> {
        launch.run_middleware(Around(Arc::clone(agent)))
    }

    /// A span around a turn.
    struct Around(Arc<Definition>);

    #[async_trait]
    impl RunMiddleware<Conversation> for Around {
        async fn around(
            &self,
            input: Option<ConversationInput>,
            next: RunNext<'_, Conversation>,
        ) -> Result<Conversation, RunError> {
            let described = Some(&*self.0.description).filter(|text| !text.is_empty());
            let span = agent_span(&self.0.name, described, next.thread());
            next.run(input).instrument(span).await
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod spans {
    use super::{AgentEvent, AgentFlow, Arc, Definition, Launch, LlmClient, Tool};

    pub(crate) fn model(client: &Arc<dyn LlmClient>) -> impl LlmClient + use<> {
        Arc::clone(client)
    }

    pub(crate) fn tool(tool: &Arc<dyn Tool>) -> impl Tool + use<> {
        Arc::clone(tool)
    }

    pub(crate) fn merged(_: &AgentEvent) {}

    pub(crate) fn agent(launch: Launch<AgentFlow>, _: &Arc<Definition>) -> Launch<AgentFlow> {
        launch
    }
}

pub(super) use spans::{agent, merged, model, tool};
