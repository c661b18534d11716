//! An agent for long work.

use std::sync::Arc;

use super::{LongResults, Workspace};
use crate::{Agent, Limits, Mode};
use petalflow::tool::Tool;
use petalflow_llm::LlmClient;

const INSTRUCTIONS: &str = "You do long work by yourself. Write what you find into files while you work, and read files \
     again instead of remembering them. Before you answer, check the result against what was asked.";

const WORKER: &str = "You do one part of a longer work for another agent. You know only what its request says and what is in \
     the files. Write long results into files. Answer briefly: what you have done, and the paths of the files.";

const DELEGATION: &str = "Give a part of the work that needs much reading to `worker`, which has a conversation of its own and \
     the same files. Say all that it has to know. Call it several times at once for parts that do not depend on each other, \
     and tell each call to write other files.";

/// An agent for long work: with a plan, files, long results in files, and a sub-agent that works on parts.
///
/// It makes an ordinary [`Agent`], to which everything else can be added: its name, [approvals](super::ApprovalPolicy),
/// [compaction](crate::compaction), [limits](crate::Limits). Copy `build` to change what it is made of.
///
/// ```
/// use petalflow_agent::deep::{DeepAgent, Workspace};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let work = Reply::call("worker", json!({ "request": "Write about roses to roses.md." }));
/// # let write = Reply::call("write_file", json!({ "path": "roses.md", "text": "Five petals." }));
/// # let model = ScriptedModel::new([work, write, "See roses.md.".into(), "Done: roses.md".into()]);
/// let agent = DeepAgent::new(model).build().instructions("You are a botanist.");
/// let talk = agent.run("Write about roses.").await?;
/// assert_eq!(talk.answer(), "Done: roses.md");
/// assert_eq!(Workspace::files_in(&talk)["roses.md"], "Five petals.");
/// # Ok(())
/// # }
/// ```
pub struct DeepAgent {
    model: Arc<dyn LlmClient>,
    workspace: Workspace,
    tools: Vec<Arc<dyn Tool>>,
    long_results: usize,
    worker_limits: Limits,
    sub_agents: Vec<Agent>,
}

impl DeepAgent {
    /// An agent with this model, whose files are in the thread.
    pub fn new(model: impl LlmClient) -> Self {
        DeepAgent {
            model: Arc::new(model),
            workspace: Workspace::in_thread(),
            tools: Vec::new(),
            long_results: LongResults::DEFAULT_CHARACTERS,
            worker_limits: Limits::new(),
            sub_agents: Vec::new(),
        }
    }

    /// Sets where the files of the agent and its worker are.
    #[must_use]
    pub fn workspace(self, workspace: Workspace) -> Self {
        DeepAgent { workspace, ..self }
    }

    /// Adds tools, for the agent and for its worker.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Sets from how many characters on a result goes into a file. Default: 20,000.
    #[must_use]
    pub fn long_results(self, characters: usize) -> Self {
        DeepAgent {
            long_results: characters,
            ..self
        }
    }

    /// Limits what one call of the worker uses, as [`Agent::call_limits`] does.
    #[must_use]
    pub fn worker_limits(self, limits: Limits) -> Self {
        DeepAgent {
            worker_limits: limits,
            ..self
        }
    }

    /// Adds a sub-agent besides the worker, as [`Agent::sub_agent`] does. With [`Mode::SingleTurn`] it has a conversation of
    /// its own, and its calls run in parallel.
    #[must_use]
    pub fn sub_agent(mut self, agent: Agent) -> Self {
        self.sub_agents.push(agent);
        self
    }

    /// The agent.
    #[must_use]
    pub fn build(self) -> Agent {
        let equipped = |agent: Agent| {
            agent
                .tools(self.tools.iter().cloned())
                .workspace(self.workspace.clone())
                .callbacks(LongResults::new(self.workspace.clone()).characters(self.long_results))
        };
        let worker = Agent::named("worker")
            .description("Does a part of the work by itself, and answers with what it has done.")
            .mode(Mode::SingleTurn)
            .call_limits(self.worker_limits)
            .instructions(WORKER);
        let agent = Agent::new(self.model)
            .instructions(INSTRUCTIONS)
            .instructions(DELEGATION)
            .max_model_calls(500)
            .plan();
        let agent = equipped(agent).sub_agent(equipped(worker));
        self.sub_agents.into_iter().fold(agent, Agent::sub_agent)
    }
}

impl std::fmt::Debug for DeepAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeepAgent")
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
