//! Running an agent.

use super::flow::launch_of;
use super::{Agent, AgentEvents, AgentFlow, Conversation, ConversationInput, observed};
use petalflow::checkpoint::Store;
use petalflow::thread::Threads;
use petalflow::{BoxError, Context, Launch, Run};

/// Running it.
impl Agent {
    /// The agent as a flow with the settings of a launch: managed values, middleware, timeouts.
    pub fn launch(&self) -> Launch<AgentFlow> {
        observed::agent(launch_of(&self.0), &self.0)
    }

    /// One turn: what is said, and all that it sets off, until there is an answer. `Conversation::next_input` goes on with it.
    pub fn run(&self, input: impl Into<ConversationInput>) -> Run<AgentFlow> {
        self.launch().run(input)
    }

    /// The same as a stream of what happens. With [`streaming`](Self::streaming), the pieces of answers are in it.
    pub fn events(&self, input: impl Into<ConversationInput>) -> AgentEvents {
        AgentEvents::new(self.run(input).events())
    }

    /// Keeps conversations in a store: each is a thread.
    pub fn store(&self, store: &(impl Store + Clone)) -> Threads<AgentFlow> {
        self.launch().store(store)
    }

    /// One turn inside a node of another flow, or inside a tool: its steps are stored with that flow, its events are among that
    /// flow's, and it stops with it. A node may do this once for each agent.
    ///
    /// # Errors
    ///
    /// What made the turn fail.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the turn; where the flow is stored it goes on when the node runs again.
    pub async fn run_in(
        &self,
        cx: &Context,
        input: impl Into<ConversationInput>,
    ) -> Result<Conversation, BoxError> {
        launch_of(&self.0).run_in(cx, &self.0.name, input).await
    }
}
