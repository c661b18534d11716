//! The definition of an agent.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::artifacts::Artifacts;
use super::callbacks::Callbacks;
use super::code::CodeExecutor;
use super::instructions::Instruction;
use super::output::Output;
use super::planner::Planner;
use super::processors::{self, RequestProcessor, ResponseProcessor};
use super::roster::Roster;
use super::{Agent, AgentError};
use petalflow::policy::Retry;
use petalflow::tool::{Tool, ToolSource, ToolSpec};
use petalflow_llm::{LlmClient, LlmRequest};

/// How an agent takes part in a conversation.
///
/// ```
/// use petalflow_agent::{Agent, Mode};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([
/// #     Reply::call("translator", json!({ "request": "good morning, in Japanese" })),
/// #     "ohayo".into(),
/// #     "They say ohayo.".into(),
/// # ]);
/// let translator = Agent::named("translator").description("Translates words.").mode(Mode::SingleTurn);
/// let guide = Agent::new(model).name("guide").sub_agent(translator);
/// assert_eq!(guide.run("What do people in Kyoto say in the morning?").await?.answer(), "They say ohayo.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The agent has the conversation: other agents transfer it to this agent, which may transfer it on.
    #[default]
    Chat,
    /// Another agent gives it a task. It works on the task, asks the user if necessary, and reports the result.
    Task,
    /// Another agent asks it one question, and it answers.
    SingleTurn,
}

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

/// The transfers that an agent may make to agents that are not below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfers {
    pub(super) up: bool,
    pub(super) aside: bool,
}

/// The definition of an agent.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(super) name: Arc<str>,
    /// Whether the name was set. Only then does the model get it.
    pub(super) named: bool,
    pub(super) description: String,
    pub(super) model: Option<Arc<dyn LlmClient>>,
    /// The initial request of every model call.
    pub(super) request: LlmRequest,
    pub(super) instructions: Vec<Instruction>,
    /// Instructions that also apply to the agents below.
    pub(super) global: Vec<Instruction>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) sources: Vec<Arc<dyn ToolSource>>,
    pub(super) agents: Vec<Agent>,
    pub(super) mode: Mode,
    pub(super) transfers: Transfers,
    pub(super) history: History,
    pub(super) output: Option<Output>,
    pub(super) callbacks: Vec<Arc<dyn Callbacks>>,
    pub(super) plugins: Vec<Arc<dyn Callbacks>>,
    pub(super) processors: Vec<Arc<dyn RequestProcessor>>,
    pub(super) response_processors: Vec<Arc<dyn ResponseProcessor>>,
    pub(super) planner: Option<Arc<dyn Planner>>,
    pub(super) code_executor: Option<Arc<dyn CodeExecutor>>,
    pub(super) artifacts: Option<Arc<dyn Artifacts>>,
    pub(super) streaming: bool,
    pub(super) max_model_calls: u32,
    pub(super) max_thoughts: u32,
    pub(super) parallel_tools: usize,
    pub(super) tool_timeout: Option<Duration>,
    pub(super) retry: Vec<Retry>,
    /// Built on first use, and rebuilt after the agent is changed.
    pub(super) specs: OnceLock<Arc<[Arc<ToolSpec>]>>,
    pub(super) roster: OnceLock<Arc<Roster>>,
}

impl Definition {
    pub(super) fn new(name: &str, model: Option<Arc<dyn LlmClient>>) -> Self {
        Definition {
            name: name.into(),
            named: false,
            description: String::new(),
            model,
            request: LlmRequest::default(),
            instructions: Vec::new(),
            global: Vec::new(),
            tools: Vec::new(),
            sources: Vec::new(),
            agents: Vec::new(),
            mode: Mode::Chat,
            transfers: Transfers {
                up: true,
                aside: true,
            },
            history: History::All,
            output: None,
            callbacks: Vec::new(),
            plugins: Vec::new(),
            processors: processors::defaults(),
            response_processors: processors::response_defaults(),
            planner: None,
            code_executor: None,
            artifacts: None,
            streaming: false,
            max_model_calls: 50,
            max_thoughts: 3,
            parallel_tools: 16,
            tool_timeout: None,
            retry: Vec::new(),
            specs: OnceLock::new(),
            roster: OnceLock::new(),
        }
    }

    /// The tools' specifications, in the order in which the tools were added.
    pub(super) fn specs(&self) -> &Arc<[Arc<ToolSpec>]> {
        self.specs.get_or_init(|| {
            self.tools
                .iter()
                .map(|tool| Arc::clone(tool.spec()))
                .collect()
        })
    }

    /// The roster: the agent and the agents below it.
    pub(super) fn roster(self: &Arc<Self>) -> Result<Arc<Roster>, AgentError> {
        if let Some(roster) = self.roster.get() {
            return Ok(Arc::clone(roster));
        }
        let roster = Arc::new(Roster::of(self)?);
        Ok(Arc::clone(self.roster.get_or_init(|| roster)))
    }

    /// Fails if two tools have the same name.
    pub(super) fn check_tools(&self) -> Result<(), AgentError> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for tool in &self.tools {
            let name = &*tool.spec().name;
            if !seen.insert(name) {
                return Err(AgentError::ToolTwice {
                    agent: self.name.to_string(),
                    tool: name.into(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.tools.iter().map(|tool| &*tool.spec().name).collect();
        f.debug_struct("Agent")
            .field("name", &self.name)
            .field("mode", &self.mode)
            .field("tools", &tools)
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}
