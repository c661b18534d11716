//! Starts runs of an agent.

use super::Agent;
use crate::Conversation;
use crate::stream::AgentEvents;
use crate::turn::{AgentFlow, CallerStreams, StreamsBelow, launch_of};
use petalflow::checkpoint::Store;
use petalflow::middleware::BoxFuture;
use petalflow::state::InputOf;
use petalflow::thread::Threads;
use petalflow::{BoxError, Context, Launch, Run};

/// The methods that run the agent.
impl Agent {
    /// A launch of the agent's flow, to add settings: managed values, middleware, timeouts.
    pub fn launch(&self) -> Launch<AgentFlow> {
        let launch = self.launch_within();
        #[cfg(feature = "tracing")]
        let launch = launch.run_middleware(super::turn_span::TurnSpan::new(&self.0));
        launch
    }

    /// Runs one turn, from a message to its answer. `Conversation::next_input` makes the input of the next turn.
    pub fn run(&self, input: impl InputOf<Conversation>) -> Run<AgentFlow> {
        self.launch().run(input)
    }

    /// Runs one turn as a stream of events. With [`streaming`](Self::streaming), it contains the pieces of answers.
    pub fn events(&self, input: impl InputOf<Conversation>) -> AgentEvents {
        AgentEvents::new(self.run(input).events())
    }

    /// Stores conversations in a store. Each is a thread.
    pub fn store(&self, store: &(impl Store + Clone)) -> Threads<AgentFlow> {
        self.launch().store(store)
    }

    /// Runs one turn inside a node of another flow, or inside a tool. Its steps are stored with that flow, its events
    /// are part of that flow's events, and it stops with that flow. A node may do this once for each agent.
    ///
    /// # Errors
    ///
    /// The error of the turn.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the turn. If the flow is stored, the turn resumes when the node runs again.
    pub fn run_in<'a>(
        &'a self,
        cx: &'a Context,
        input: impl InputOf<Conversation>,
    ) -> BoxFuture<'a, Result<Conversation, BoxError>> {
        let mut launch = self.launch_within();
        if CallerStreams::is_set(cx) {
            launch = launch.manage(StreamsBelow);
        }
        launch.run_in(cx, &self.0.name, input)
    }

    /// A launch with what also counts inside of other runs.
    fn launch_within(&self) -> Launch<AgentFlow> {
        let launch = launch_of(&self.0);
        if self.0.streaming {
            launch.manage(StreamsBelow)
        } else {
            launch
        }
    }
}
