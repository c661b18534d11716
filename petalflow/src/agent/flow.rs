//! An agent as a flow.

use std::future::Future;
use std::sync::Arc;

use super::turn::Turn;
use super::{Conversation, Definition};
use crate::__private::flow::{ExecutionPlan, Step};
use crate::{BoxError, Flow, Requirements};

/// An agent as a flow: each call of a model, and each call of a tool, is a step of it. Made by [`Agent::launch`](super::Agent::launch).
///
/// ```
/// use petalflow::agent::{Agent, AgentFlow};
/// use petalflow::llm::ScriptedModel;
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
/// ann.run("hi").await?.finished()?;
/// assert_eq!(ann.run("hi").await?.finished()?.answer(), "hello again");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AgentFlow {
    turn: Turn,
    /// With the retries of the agent.
    plan: Arc<ExecutionPlan>,
}

impl AgentFlow {
    pub(super) fn of(agent: &Arc<Definition>) -> Self {
        let turn = Turn::of(agent);
        let mut plan = turn.plan();
        if !agent.retry.is_empty() {
            plan = Arc::new(plan.retrying("ask", agent.retry.clone()));
        }
        AgentFlow { turn, plan }
    }
}

impl Flow for AgentFlow {
    type State = Conversation;

    fn name(&self) -> &str {
        self.turn.name()
    }

    fn stored_name(&self) -> &str {
        self.turn.stored_name()
    }

    fn plan(&self) -> Arc<ExecutionPlan> {
        Arc::clone(&self.plan)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.turn.require(requirements);
    }

    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, Conversation>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        self.turn.step(node, step)
    }
}
