//! An agent, and what can be said about it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::definition::{Definition, History, Mode};
use super::instructions::Instruction;
use super::output::Output;
use super::processors::{RequestProcessor, ResponseProcessor};
use super::{Artifacts, CodeExecutor, ModelCall, Planner};
use petalflow::tool::{Tool, ToolSource};
use petalflow::{BoxError, Retry};
use petalflow_llm::{LlmClient, LlmRequest};

/// A model with tools, instructions, and other agents to work with. A clone costs nothing.
///
/// ```
/// use petalflow_agent::Agent;
/// # use petalflow_llm::{Reply, ScriptedModel};
/// use petalflow::prelude::*;
/// # use serde_json::json;
///
/// /// Looks something up.
/// #[tool]
/// fn search(
///     /// What to look for.
///     topic: String,
/// ) -> String {
///     format!("all about {topic}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("search", json!({ "topic": "petals" })), "They are leaves.".into()]);
/// let agent = Agent::new(model).tool(search {}).instructions("Look things up before you answer.");
/// let answer = agent.run("What are petals?").await?;
/// assert_eq!(answer.to_string(), "They are leaves.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Agent(pub(super) Arc<Definition>);

impl Agent {
    /// An agent that speaks through this model.
    pub fn new(model: impl LlmClient) -> Self {
        Agent(Arc::new(Definition::new("agent", Some(Arc::new(model)))))
    }

    /// An agent of this name that speaks through the model of the agent above it.
    pub fn named(name: impl Into<String>) -> Self {
        let mut definition = Definition::new(&name.into(), None);
        definition.named = true;
        Agent(Arc::new(definition))
    }

    pub(super) fn edit(mut self, edit: impl FnOnce(&mut Definition)) -> Self {
        let definition = Arc::make_mut(&mut self.0);
        edit(definition);
        definition.specs = OnceLock::new();
        definition.roster = OnceLock::new();
        self
    }

    /// Its name, which its model is told; by it others know it, and its events are its own. `agent` unless set.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.edit(|agent| {
            agent.name = name.into();
            agent.named = true;
        })
    }

    /// What it is good for, for agents that may hand work to it.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.edit(|agent| agent.description = description.into())
    }

    /// The model that it speaks through.
    #[must_use]
    pub fn model(self, model: impl LlmClient) -> Self {
        self.edit(|agent| agent.model = Some(Arc::new(model)))
    }

    /// What it is told to be. `{city}` stands for what the conversation's state has under `city`, `{city?}` for the same or
    /// nothing, `{artifact.style}` for the text of an artifact. Said again, it adds a paragraph.
    #[must_use]
    pub fn instructions(self, text: &str) -> Self {
        self.edit(|agent| agent.instructions.push(Instruction::text(text)))
    }

    /// The same, written anew for each call of the model. Placeholders in it are not filled.
    #[must_use]
    pub fn instructions_with(
        self,
        write: impl Fn(&ModelCall<'_>) -> Result<String, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let written = Instruction::Written(Arc::new(write));
        self.edit(|agent| agent.instructions.push(written))
    }

    /// What this agent and all below it are told.
    #[must_use]
    pub fn global_instructions(self, text: &str) -> Self {
        self.edit(|agent| agent.global.push(Instruction::text(text)))
    }

    /// Gives it a tool.
    #[must_use]
    pub fn tool(self, tool: impl Tool) -> Self {
        self.edit(|agent| agent.tools.push(Arc::new(tool)))
    }

    /// Gives it several tools.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.edit(|agent| agent.tools.extend(tools))
    }

    /// Gives it tools that are asked for before each call of its model, such as those of a server.
    #[must_use]
    pub fn tool_source(self, source: impl ToolSource) -> Self {
        self.edit(|agent| agent.sources.push(Arc::new(source)))
    }

    /// Puts another agent below it. It may hand the conversation over to one that [converses](Mode::Chat), and give work to
    /// others.
    #[must_use]
    pub fn sub_agent(self, agent: Agent) -> Self {
        self.edit(|above| above.agents.push(agent))
    }

    /// How it takes part in conversations; it converses unless set.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        self.edit(|agent| agent.mode = mode)
    }

    /// Keeps it from handing the conversation back to the agent above it.
    #[must_use]
    pub fn disallow_transfer_to_parent(self) -> Self {
        self.edit(|agent| agent.transfers.up = false)
    }

    /// Keeps it from handing the conversation to agents beside it.
    #[must_use]
    pub fn disallow_transfer_to_peers(self) -> Self {
        self.edit(|agent| agent.transfers.aside = false)
    }

    /// How much of the conversation its model reads; all unless set.
    #[must_use]
    pub fn history(self, history: History) -> Self {
        self.edit(|agent| agent.history = history)
    }

    /// Asks the model for answers that can be read as a `T`: [`Conversation::output`](super::Conversation::output) reads them.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Flower {
    ///     petals: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([r#"{"petals": 5}"#]);
    /// let agent = Agent::new(model).output::<Flower>();
    /// let rose: Flower = agent.run("A wild rose?").await?.output()?;
    /// assert_eq!(rose.petals, 5);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn output<T: JsonSchema + DeserializeOwned>(self) -> Self {
        self.edit(|agent| agent.output = Some(Output::of::<T>()))
    }

    /// Changes what every request of the agent begins as: the temperature, the number of tokens.
    #[must_use]
    pub fn request(self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        self.edit(|agent| edit(&mut agent.request))
    }

    /// Sends the pieces of answers to who listens.
    #[must_use]
    pub fn streaming(self) -> Self {
        self.edit(|agent| agent.streaming = true)
    }

    /// How often a model may be called in one turn, by this agent and those below it; 50 times unless set.
    #[must_use]
    pub fn max_model_calls(self, turns: u32) -> Self {
        self.edit(|agent| agent.max_model_calls = turns)
    }

    /// How often in a row a model may only think, and say nothing; 3 times unless set.
    #[must_use]
    pub fn max_thoughts(self, times: u32) -> Self {
        self.edit(|agent| agent.max_thoughts = times)
    }

    /// How many tools may run at once in a run, those of the agents below it among them; 16 unless set.
    ///
    /// # Panics
    ///
    /// If it is 0: no tool could ever run.
    #[must_use]
    pub fn parallel_tools(self, tools: usize) -> Self {
        assert!(
            tools > 0,
            "`parallel_tools` must be at least 1: with 0 no tool could ever run"
        );
        self.edit(|agent| agent.parallel_tools = tools)
    }

    /// The longest a call of a tool may take. A tool's own timeout may be shorter.
    #[must_use]
    pub fn tool_timeout(self, timeout: Duration) -> Self {
        self.edit(|agent| agent.tool_timeout = Some(timeout))
    }

    /// How a call of a model is tried again. Pieces of an attempt that failed are void: listeners hear of it.
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        self.edit(|agent| agent.retry.push(retry))
    }

    /// Adds a step between the conversation and the request, behind those there are.
    #[must_use]
    pub fn processor(self, processor: impl RequestProcessor) -> Self {
        self.edit(|agent| agent.processors.push(Arc::new(processor)))
    }

    /// Takes these steps instead of the [defaults](super::processors::defaults).
    #[must_use]
    pub fn processors(
        self,
        processors: impl IntoIterator<Item = Arc<dyn RequestProcessor>>,
    ) -> Self {
        self.edit(|agent| agent.processors = processors.into_iter().collect())
    }

    /// Adds a step between an answer and what is made of it, behind those there are.
    #[must_use]
    pub fn response_processor(self, processor: impl ResponseProcessor) -> Self {
        self.edit(|agent| agent.response_processors.push(Arc::new(processor)))
    }

    /// Takes these steps instead of the [defaults](super::processors::response_defaults).
    #[must_use]
    pub fn response_processors(
        self,
        processors: impl IntoIterator<Item = Arc<dyn ResponseProcessor>>,
    ) -> Self {
        self.edit(|agent| agent.response_processors = processors.into_iter().collect())
    }

    /// Makes its model plan before it acts.
    #[must_use]
    pub fn planner(self, planner: impl Planner) -> Self {
        self.edit(|agent| agent.planner = Some(Arc::new(planner)))
    }

    /// Runs the code that its model writes.
    #[must_use]
    pub fn code_executor(self, executor: impl CodeExecutor) -> Self {
        self.edit(|agent| agent.code_executor = Some(Arc::new(executor)))
    }

    /// Where instructions find the artifacts that they name.
    #[must_use]
    pub fn artifacts(self, artifacts: impl Artifacts) -> Self {
        self.edit(|agent| agent.artifacts = Some(Arc::new(artifacts)))
    }
}
