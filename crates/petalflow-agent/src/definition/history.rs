//! The part of a conversation that an agent's model reads.

/// How much of a conversation an agent's model reads.
///
/// ```
/// use petalflow_agent::{Agent, History};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::from_fn(|request| request.messages.len().to_string());
/// let agent = Agent::new(model).history(History::Turn);
/// let talk = agent.run("one").await?;
/// assert_eq!(agent.run(talk.next_input("two")).await?.answer(), "1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum History {
    /// All events that the agent can see. Of an agent that it has called for one answer
    /// ([`Mode::SingleTurn`](crate::Mode::SingleTurn)), it reads the answer, as the result of the call.
    #[default]
    All,
    /// The same, and all events of the agents that it has called, as the agents of ADK do. What they read is read again with
    /// each request.
    WithCalled,
    /// The events since the last message to the agent.
    Turn,
}
