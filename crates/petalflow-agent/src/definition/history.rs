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
    /// All events that the agent can see.
    #[default]
    All,
    /// The events since the last message to the agent.
    Turn,
}
