//! Starts runs of an agent.

use super::Agent;
use super::turn_middleware::TurnMiddleware;
use crate::Conversation;
use crate::stream::AgentEvents;
use crate::turn::{AgentFlow, CallerStreams, StreamsBelow, launch_of};
use petalflow::checkpoint::Store;
use petalflow::middleware::BoxFuture;
use petalflow::state::InputOf;
use petalflow::thread::Threads;
use petalflow::{BoxError, Context, Launch, Run};

/// The launch of the agent's flow, as [`Agent::launch`] makes it.
impl From<Agent> for Launch<AgentFlow> {
    fn from(agent: Agent) -> Self {
        agent.launch()
    }
}

/// The methods that run the agent.
impl Agent {
    /// A launch of the agent's flow, to add settings: managed values, middleware, timeouts. A stored conversation that waits for a
    /// person or for the result of a call is listed as [`Waiting`](petalflow::checkpoint::ThreadStatus::Waiting).
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hi"]));
    /// let talk = agent.launch().timeout(Duration::from_secs(60)).run("hello").await?;
    /// assert_eq!(talk.answer(), "hi");
    /// # Ok(())
    /// # }
    /// ```
    pub fn launch(&self) -> Launch<AgentFlow> {
        self.launch_within()
            .run_middleware(TurnMiddleware::new(&self.0.definition))
            .waits_when(|talk| !talk.pending().is_empty())
    }

    /// Runs one turn, from a message to its answer. `Conversation::next_input` makes the input of the next turn.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hello", "good bye"]));
    /// let talk = agent.run("hi").await?;
    /// assert_eq!(talk.answer(), "hello");
    /// let talk = agent.run(talk.next_input("bye")).await?;
    /// assert_eq!(talk.answer(), "good bye");
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, input: impl InputOf<Conversation>) -> Run<AgentFlow> {
        self.launch().run(input)
    }

    /// Runs one turn as a stream of events. With [`streaming`](Self::streaming), it contains the pieces of answers.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::stream::AgentEventKind;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hello"]));
    /// let mut events = agent.events("hi");
    /// while let Some(item) = events.next().await {
    ///     match item.kind {
    ///         AgentEventKind::Event(event) => println!("{}: {}", event.author, event.text()),
    ///         AgentEventKind::Finished(talk) => assert_eq!(talk.answer(), "hello"),
    ///         AgentEventKind::Failed(error) => return Err(error.into()),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self, input: impl InputOf<Conversation>) -> AgentEvents {
        AgentEvents::new(self.run(input).events())
    }

    /// Stores conversations in a store. Each is a thread.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hello Ann", "good bye Ann"]));
    /// let threads = agent.store(&InMemoryStore::new());
    /// threads.thread("ann").run("I am Ann.").await?;
    /// // The thread has the earlier messages.
    /// let talk = threads.thread("ann").run("bye").await?.into_finished()?;
    /// assert_eq!((talk.answer().as_str(), talk.events.len()), ("good bye Ann", 4));
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(&self, store: &(impl Store + Clone)) -> Threads<AgentFlow> {
        self.launch().store(store)
    }

    /// Runs one turn inside a node of another flow, or inside a tool. Its steps are stored with that flow, its events
    /// are part of that flow's events, and it stops with that flow. A node may do this once for each agent.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     text: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str, agent: Managed<Agent>, cx: Context) -> petalflow::Result<EssayText> {
    ///     Ok(EssayText(agent.run_in(&cx, topic).await?.answer()))
    /// }
    ///
    /// flow! {
    ///     WriteEssay(Essay) {
    ///         START -> write -> END;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["Petals fall."]));
    /// let essay = WriteEssay::new().manage(agent).run("petals".to_string()).await?;
    /// assert_eq!(essay.text, "Petals fall.");
    /// # Ok(())
    /// # }
    /// ```
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
        launch.run_in(cx, &self.0.definition.name, input)
    }

    /// A launch with what also counts inside of other runs.
    fn launch_within(&self) -> Launch<AgentFlow> {
        let launch = launch_of(&self.0);
        if self.0.definition.streaming {
            launch.manage(StreamsBelow)
        } else {
            launch
        }
    }
}
