//! An agent as a flow.

use std::sync::Arc;

use petalflow::Launch;
use petalflow::flow::WithRetry;

use super::Definition;
use super::turn::Turn;

/// An agent as a flow: each model call and each tool call is a step. Made by [`Agent::launch`](super::Agent::launch).
///
/// ```
/// use petalflow_agent::{Agent, AgentFlow};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::thread::Threads;
///
/// /// The conversations of a program.
/// struct Desk {
///     conversations: Threads<AgentFlow>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = petalflow::checkpoint::InMemoryStore::new();
/// let agent = Agent::new(ScriptedModel::new(["hello", "hello again"]));
/// let desk = Desk { conversations: agent.store(&store) };
/// let ann = desk.conversations.thread("ann");
/// ann.run("hi").await?.into_finished()?;
/// assert_eq!(ann.run("hi").await?.into_finished()?.answer(), "hello again");
/// # Ok(())
/// # }
/// ```
pub type AgentFlow = WithRetry<Turn>;

/// A launch of a turn of this agent, with the agent's retries of model calls. `max_model_calls` bounds the turn;
/// there is no limit of supersteps.
pub(crate) fn launch_of(agent: &Arc<Definition>) -> Launch<AgentFlow> {
    let turn = Turn::of(agent).limit(u64::MAX);
    turn.with_retry("ask", agent.retry.clone())
}
