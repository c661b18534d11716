//! The builder methods of [`Agent`].

use std::sync::Arc;
use std::time::Duration;

use super::Agent;
use crate::compaction::Compactor;
use crate::conversation::history::Plans;
use crate::definition::{History, Instruction, Mode};
use crate::extension::{
    Approvals, Artifacts, CodeExecutor, ModelCall, Planner, RequestProcessor, RequestStep,
    ResponseProcessor, ResponseStep,
};
use crate::guardrail::Guardrail;
use crate::limits::Limits;
use petalflow::BoxError;
use petalflow::policy::Retry;
use petalflow_llm::usage::Prices;
use petalflow_llm::{LlmClient, LlmRequest};

impl Agent {
    /// Sets the name that the model and other agents know. It is the author of the agent's events. Default: `agent`.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["Turn left."])).name("guide");
    /// let talk = agent.run("Where is the garden?").await?;
    /// assert_eq!(talk.events[1].author, "guide");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.edit(|agent| {
            agent.name = name.into();
            agent.named = true;
        })
    }

    /// Sets the description. Agents that may transfer or delegate to this agent read it.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.edit(|agent| agent.description = description.into())
    }

    /// Sets the model.
    #[must_use]
    pub fn model(self, model: impl LlmClient) -> Self {
        self.edit(|agent| agent.model = Some(Arc::new(model)))
    }

    /// Adds instructions as a paragraph. `{city}` is replaced by the value of `city` in the conversation's state,
    /// `{city?}` by the same or by nothing if there is no value, and `{artifact.style}` by the text of an artifact.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
    /// let agent = Agent::new(model).instructions("You are a guide in {city}.").instructions("Be brief.");
    /// let talk = agent.run(ConversationInput::from("hello").with_state("city", "Kyoto")).await?;
    /// # assert_eq!(talk.answer(), "You are a guide in Kyoto.\n\nBe brief.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn instructions(self, text: impl AsRef<str>) -> Self {
        self.edit(|agent| agent.instructions.push(Instruction::text(text.as_ref())))
    }

    /// Adds instructions that a closure writes for each model call. Placeholders in them are not filled.
    #[must_use]
    pub fn instructions_with(
        self,
        write: impl Fn(&ModelCall<'_>) -> Result<String, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let written = Instruction::Written(Arc::new(write));
        self.edit(|agent| agent.instructions.push(written))
    }

    /// Adds instructions for this agent and all agents below it.
    #[must_use]
    pub fn global_instructions(self, text: impl AsRef<str>) -> Self {
        self.edit(|agent| agent.global.push(Instruction::text(text.as_ref())))
    }

    /// Adds a sub-agent. The agent can transfer the conversation to a sub-agent in mode [`Chat`](Mode::Chat), and
    /// delegate work to the others.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// # use petalflow_agent::testing::transfer_to;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([transfer_to("gardener"), "Roses need sun.".into()]);
    /// let gardener = Agent::named("gardener").description("Knows plants.");
    /// let agent = Agent::new(model).sub_agent(gardener);
    /// let talk = agent.run("Where do I plant a rose?").await?;
    /// assert_eq!(talk.answer(), "Roses need sun.");
    /// assert_eq!(talk.events.last().unwrap().author, "gardener");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn sub_agent(self, agent: Agent) -> Self {
        self.edit(|above| above.agents.push(agent.into_definition()))
    }

    /// Sets how the agent takes part in conversations. Default: [`Mode::Chat`].
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        self.edit(|agent| agent.mode = mode)
    }

    /// Disallows a transfer of the conversation to the parent agent.
    #[must_use]
    pub fn disallow_transfer_to_parent(self) -> Self {
        self.edit(|agent| agent.transfers.to_parent = false)
    }

    /// Disallows a transfer of the conversation to a peer: another agent with the same parent.
    #[must_use]
    pub fn disallow_transfer_to_peers(self) -> Self {
        self.edit(|agent| agent.transfers.to_peers = false)
    }

    /// Sets how much of the conversation the model reads. Default: [`History::All`].
    #[must_use]
    pub fn history(self, history: History) -> Self {
        self.edit(|agent| agent.history = history)
    }

    /// Edits the initial request of every model call: the temperature, the number of tokens.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::from_fn(|request| format!("{:?}", request.max_tokens));
    /// let agent = Agent::new(model).request(|request| request.max_tokens = Some(100));
    /// assert_eq!(agent.run("hello").await?.answer(), "Some(100)");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn request(self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        self.edit(|agent| edit(&mut agent.request))
    }

    /// Streams the pieces of answers to listeners: those of this agent, of the agents below it, and of the agents that
    /// tools run with [`run_in`](Self::run_in), also within prebuilt flows. [`AgentEvent::author`](crate::AgentEvent::author)
    /// names the agent of a piece.
    ///
    /// An agent that is itself run with `run_in` streams for itself and the agents below it. So does an agent to which the
    /// conversation was transferred, while it has the conversation.
    ///
    /// ```
    /// use petalflow_agent::{Agent, Mode, stream::AgentEventKind};
    /// use petalflow_llm::{Reply, ScriptedModel};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ScriptedModel::new([
    ///     Reply::call("translator", json!({ "request": "good morning" })),
    ///     Reply::chunks(["oha", "yo"]),
    ///     Reply::chunks(["They say ", "ohayo."]),
    /// ]);
    /// let translator = Agent::named("translator").mode(Mode::SingleTurn);
    /// let mut events = Agent::new(model).name("guide").sub_agent(translator).streaming().events("hello");
    /// let mut pieces = Vec::new();
    /// while let Some(item) = events.next().await {
    ///     if let AgentEventKind::Partial(piece) = item.kind
    ///         && !piece.text().is_empty()
    ///     {
    ///         pieces.push(format!("{}: {}", piece.author, piece.text()));
    ///     }
    /// }
    /// assert_eq!(pieces, ["translator: oha", "translator: yo", "guide: They say ", "guide: ohayo."]);
    /// # }
    /// ```
    #[must_use]
    pub fn streaming(self) -> Self {
        self.edit(|agent| agent.streaming = true)
    }

    /// Sets the maximum number of model calls in one turn. Default: 50.
    ///
    /// The calls of this agent, and of the agents to which it transfers the conversation or gives a task, count together. Each
    /// call of an agent with [`Mode::SingleTurn`] has a count and a maximum of its own: what is set for that agent, or else the
    /// maximum of the agent above all others. [`Limits::requests`](crate::Limits::requests) bounds the sum.
    #[must_use]
    pub fn max_model_calls(self, calls: u32) -> Self {
        self.edit(|agent| agent.max_model_calls = Some(calls))
    }

    /// Sets the maximum number of consecutive model answers that contain only thoughts. Default: 3.
    #[must_use]
    pub fn max_thoughts(self, answers: u32) -> Self {
        self.edit(|agent| agent.max_thoughts = answers)
    }

    /// Sets how often in a turn an answer goes back to the model because it does not have the form that
    /// [`output`](Self::output) requests. Default: 2. After that, such an answer fails the turn with
    /// [`AgentError::InvalidOutput`](crate::AgentError::InvalidOutput).
    ///
    /// A turn that resumes after a crash continues the count. [`AgentEvent::repair`](crate::AgentEvent::repair) shows
    /// each repair to listeners.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let agent = Agent::new(ScriptedModel::new(["many"])).output::<u32>().max_repairs(0);
    /// let error = agent.run("How many petals has a wild rose?").await.unwrap_err();
    /// assert!(format!("{error:?}").contains("its last answer is `many`"));
    /// # }
    /// ```
    #[must_use]
    pub fn max_repairs(self, repairs: u32) -> Self {
        self.edit(|agent| agent.max_repairs = repairs)
    }

    /// Adds a guardrail for this agent and all agents below it: see [`guardrail`](crate::guardrail). The guardrails of the
    /// agents above come first, then each agent's own in the order in which they were added.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::guardrail::{self, Verdict};
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let short = guardrail::on_input("short", |message| async move {
    ///     Ok(if message.text().len() < 100 { Verdict::Pass } else { Verdict::block("Please be brief.") })
    /// });
    /// let agent = Agent::new(ScriptedModel::new(["never asked"])).guardrail(short);
    /// assert_eq!(agent.run("petals ".repeat(50)).await?.answer(), "Please be brief.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn guardrail(self, guardrail: impl Guardrail) -> Self {
        self.edit(|agent| agent.guardrails.push(Arc::new(guardrail)))
    }

    /// Adds what decides which calls are made, wait for a person, or are refused: see [`Approvals`]. It also holds for the
    /// agents below. Those of the agents above come first, then each agent's own in the order in which they were added. The
    /// first one that decides counts.
    #[must_use]
    pub fn approvals(self, approvals: impl Approvals) -> Self {
        self.edit(|agent| agent.approvals.push(Arc::new(approvals)))
    }

    /// Sets what the model reads of a long conversation: see [`compaction`](crate::compaction). It also holds for agents
    /// below this one that have no compaction of their own.
    #[must_use]
    pub fn compaction(self, compactor: impl Compactor) -> Self {
        self.edit(|agent| agent.compactor = Some(Arc::new(compactor)))
    }

    /// Removes events that no model reads any more from the conversation, after a [`compaction`](Self::compaction). So a
    /// turn of a stored conversation takes the same time after 10,000 messages as after 100. Without this, the
    /// conversation keeps all events.
    ///
    /// The events that are removed stay in the earlier checkpoints of the thread, and
    /// [`StoredEvents`](crate::compaction::StoredEvents) reads them from there. They are lost if the conversation is not
    /// stored, or if the [`Retention`](petalflow::thread::Retention) of the threads removes those checkpoints.
    ///
    /// Events are removed when a turn begins. The last turn stays, and so does every turn with a call, task or question
    /// that is open, and what an agent with this conversation that has no compaction still reads. A person's answer to a
    /// request that was removed is an error, also if it repeats an earlier answer.
    ///
    /// It holds for the whole conversation, whichever of its agents sets it.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::compaction::{LastMessages, StoredEvents};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let store = petalflow::checkpoint::InMemoryStore::new();
    /// # let model = ScriptedModel::from_fn(|request| request.messages.len().to_string());
    /// let agent = Agent::new(model).compaction(LastMessages::new(4)).remove_cut_events();
    /// let thread = agent.store(&store).thread("ann");
    /// for number in 0..50 {
    ///     let talk = thread.run(number.to_string()).await?.into_finished()?;
    ///     assert!(talk.events.len() < 12);
    /// }
    /// let whole = StoredEvents::of(&thread).await?;
    /// assert_eq!((whole.events.len(), whole.missing), (100, 0));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn remove_cut_events(self) -> Self {
        self.edit(|agent| agent.removes_cut_events = true)
    }

    /// Limits what one turn uses: requests, tokens, money and tool calls of this agent and the agents below it. The runs
    /// that resume a turn continue its count.
    ///
    /// Only the agent that is run can have such limits; [`call_limits`](Self::call_limits) limits calls of another one. A limit that the
    /// next step would exceed ends the run with [`AgentError::Limit`](crate::AgentError::Limit).
    ///
    /// ```
    /// use petalflow_agent::{Agent, Limits};
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hi"])).turn_limits(Limits::new().requests(0));
    /// let error = agent.run("hello").await.unwrap_err();
    /// assert!(error.to_string().contains("request"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn turn_limits(self, limits: Limits) -> Self {
        self.edit(|agent| agent.turn_limits = limits)
    }

    /// Limits what all turns of a conversation use, like [`turn_limits`](Self::turn_limits). The count is part of the
    /// conversation: [`Conversation::usage`](crate::Conversation::usage).
    #[must_use]
    pub fn thread_limits(self, limits: Limits) -> Self {
        self.edit(|agent| agent.thread_limits = limits)
    }

    /// Limits what one call of this agent by another one uses: this agent and the agents below it. Each call has a count of its own,
    /// also if several run at the same time, and a call that waits for a person continues its count. The agent must have
    /// [`Mode::SingleTurn`].
    ///
    /// A limit that the next step would exceed ends the call. The run goes on: the model of the caller reads the error as the result of
    /// the call. What was used counts for the limits of the agents above too. A turn that the program runs itself is no call:
    /// [`turn_limits`](Self::turn_limits) limits it.
    ///
    /// ```
    /// use petalflow_agent::{Agent, Limits, Mode};
    /// use petalflow_llm::{Reply, ScriptedModel};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::new([
    ///     Reply::call("reader", json!({ "request": "Read everything." })),
    ///     Reply::call("search", json!({})),
    ///     "It was too much.".into(),
    /// ]);
    /// let reader = Agent::named("reader").mode(Mode::SingleTurn).call_limits(Limits::new().requests(1));
    /// let talk = Agent::new(model).sub_agent(reader).run("What do they say?").await?;
    /// let messages = talk.events.iter().filter_map(|event| event.message.as_ref());
    /// let result = messages.flat_map(|message| message.tool_results()).find(|result| result.name == "reader").unwrap();
    /// assert!(result.content["error"].as_str().unwrap().starts_with("agent `reader` stopped at its limit of 1 requests"));
    /// assert_eq!(talk.answer(), "It was too much.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn call_limits(self, limits: Limits) -> Self {
        self.edit(|agent| agent.call_limits = limits)
    }

    /// Sets the prices by which the tokens of this agent and of the agents below it cost money. The client's own prices
    /// come first.
    #[must_use]
    pub fn prices(self, prices: Prices) -> Self {
        self.edit(|agent| agent.prices = prices)
    }

    /// Sets the maximum number of tools that run at once in a run, sub-agents' tools included. Default: 16.
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

    /// Sets the maximum time of a tool call. A tool's own timeout may be shorter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// let agent = Agent::new(ScriptedModel::new(["hi"])).tool_timeout(Duration::from_secs(30));
    /// # let _ = agent;
    /// ```
    #[must_use]
    pub fn tool_timeout(self, timeout: Duration) -> Self {
        self.edit(|agent| agent.tool_timeout = Some(timeout))
    }

    /// Sets how a model call is retried. A retry voids the pieces of the failed attempt, and listeners get an event.
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow::policy::Retry;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// let retry = Retry::attempts(3).first(Duration::from_millis(200));
    /// let agent = Agent::new(ScriptedModel::new(["hi"])).retry(retry);
    /// # let _ = agent;
    /// ```
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        self.edit(|agent| agent.retry.push(retry))
    }

    /// Adds a request processor after the existing ones.
    #[must_use]
    pub fn processor(self, processor: impl RequestProcessor) -> Self {
        self.edit(|agent| agent.request_steps.push(RequestStep::custom(processor)))
    }

    /// Replaces the [default](RequestStep::defaults) steps that build a request.
    #[must_use]
    pub fn processors(self, steps: impl IntoIterator<Item = RequestStep>) -> Self {
        self.edit(|agent| agent.request_steps = steps.into_iter().collect())
    }

    /// Adds a response processor after the existing ones.
    #[must_use]
    pub fn response_processor(self, processor: impl ResponseProcessor) -> Self {
        self.edit(|agent| agent.response_steps.push(ResponseStep::custom(processor)))
    }

    /// Replaces the [default](ResponseStep::defaults) steps that process an answer.
    #[must_use]
    pub fn response_processors(self, steps: impl IntoIterator<Item = ResponseStep>) -> Self {
        self.edit(|agent| agent.response_steps = steps.into_iter().collect())
    }

    /// Sets the planner, which makes the model plan before it acts.
    #[must_use]
    pub fn planner(self, planner: impl Planner) -> Self {
        let planner = Arc::new(planner);
        let plans = Arc::clone(&planner);
        self.edit(|agent| {
            agent.planner = Some(planner);
            agent.plans = Plans::new(move |thought| plans.is_plan(thought));
        })
    }

    /// Sets the code executor, which runs the code that the model writes.
    #[must_use]
    pub fn code_executor(self, executor: impl CodeExecutor) -> Self {
        self.edit(|agent| agent.code_executor = Some(Arc::new(executor)))
    }

    /// Sets the source of the artifacts that the instructions name.
    #[must_use]
    pub fn artifacts(self, artifacts: impl Artifacts) -> Self {
        self.edit(|agent| agent.artifacts = Some(Arc::new(artifacts)))
    }
}
