//! The definition of an agent, and the tree of an agent and the agents below it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::history::History;
use super::instruction::Instruction;
use super::mode::Mode;
use super::source::{SEARCH, Source};
use crate::compaction::Compactor;
use crate::conversation::history::Plans;
use crate::extension::{
    Approvals, Artifacts, Callbacks, CodeExecutor, Planner, RequestStep, ResponseStep,
};
use crate::guardrail::Guardrail;
use crate::limits::Limits;
use crate::output::Output;
use crate::{AgentError, AgentEvent};
use petalflow::policy::Retry;
use petalflow::tool::{Tool, ToolSpec};
use petalflow_llm::usage::Prices;
use petalflow_llm::{LlmClient, LlmRequest};

/// The maximum number of model calls in a turn, if none is set.
pub(crate) const MODEL_CALLS: u32 = 50;

/// The transfers that an agent may make to agents that are not below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfers {
    pub(crate) to_parent: bool,
    pub(crate) to_peers: bool,
}

/// The definition of an agent.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) name: Arc<str>,
    /// Whether the name was set. Only then does the model get it.
    pub(crate) named: bool,
    pub(crate) description: String,
    pub(crate) model: Option<Arc<dyn LlmClient>>,
    /// The initial request of every model call.
    pub(crate) request: LlmRequest,
    pub(crate) instructions: Vec<Instruction>,
    /// Instructions that also apply to the agents below.
    pub(crate) global: Vec<Instruction>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) sources: Vec<Arc<Source>>,
    /// The sources whose tools the model searches for.
    pub(crate) searchable: Vec<Arc<Source>>,
    pub(crate) agents: Vec<Arc<Definition>>,
    pub(crate) mode: Mode,
    pub(crate) transfers: Transfers,
    pub(crate) history: History,
    pub(crate) output: Option<Output>,
    /// The names of the tools whose results are the answer.
    pub(crate) output_functions: Vec<String>,
    pub(crate) output_validators: Vec<Arc<dyn Tool>>,
    pub(crate) callbacks: Vec<Arc<dyn Callbacks>>,
    pub(crate) plugins: Vec<Arc<dyn Callbacks>>,
    pub(crate) request_steps: Vec<RequestStep>,
    pub(crate) response_steps: Vec<ResponseStep>,
    pub(crate) planner: Option<Arc<dyn Planner>>,
    /// The plans of the planner.
    pub(crate) plans: Plans,
    pub(crate) code_executor: Option<Arc<dyn CodeExecutor>>,
    pub(crate) artifacts: Option<Arc<dyn Artifacts>>,
    pub(crate) approvals: Vec<Arc<dyn Approvals>>,
    pub(crate) streaming: bool,
    /// `None`: that of the agent above all others, or [`MODEL_CALLS`].
    pub(crate) max_model_calls: Option<u32>,
    pub(crate) max_thoughts: u32,
    pub(crate) max_repairs: u32,
    pub(crate) guardrails: Vec<Arc<dyn Guardrail>>,
    pub(crate) compactor: Option<Arc<dyn Compactor>>,
    pub(crate) removes_cut_events: bool,
    pub(crate) turn_limits: Limits,
    pub(crate) call_limits: Limits,
    pub(crate) thread_limits: Limits,
    pub(crate) prices: Prices,
    pub(crate) parallel_tools: usize,
    pub(crate) tool_timeout: Option<Duration>,
    pub(crate) retry: Vec<Retry>,
    /// Built on first use, and rebuilt after the agent is changed.
    pub(crate) specs: OnceLock<Arc<[Arc<ToolSpec>]>>,
}

impl Definition {
    pub(crate) fn new(name: &str, model: Option<Arc<dyn LlmClient>>) -> Self {
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
            searchable: Vec::new(),
            agents: Vec::new(),
            mode: Mode::Chat,
            transfers: Transfers {
                to_parent: true,
                to_peers: true,
            },
            history: History::All,
            output: None,
            output_functions: Vec::new(),
            output_validators: Vec::new(),
            callbacks: Vec::new(),
            plugins: Vec::new(),
            request_steps: RequestStep::defaults(),
            response_steps: ResponseStep::defaults(),
            planner: None,
            plans: Plans::default(),
            code_executor: None,
            artifacts: None,
            approvals: Vec::new(),
            streaming: false,
            max_model_calls: None,
            max_thoughts: 3,
            max_repairs: 2,
            guardrails: Vec::new(),
            compactor: None,
            removes_cut_events: false,
            turn_limits: Limits::default(),
            call_limits: Limits::default(),
            thread_limits: Limits::default(),
            prices: Prices::new(),
            parallel_tools: 16,
            tool_timeout: None,
            retry: Vec::new(),
            specs: OnceLock::new(),
        }
    }

    /// The tools' specifications, in the order in which the tools were added.
    pub(crate) fn specs(&self) -> &Arc<[Arc<ToolSpec>]> {
        self.specs.get_or_init(|| {
            self.tools
                .iter()
                .map(|tool| Arc::clone(tool.spec()))
                .collect()
        })
    }

    /// Whether there is a form for answers.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some() || !self.output_functions.is_empty()
    }

    /// The specification of the output function with this name.
    pub(crate) fn output_function(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        let is_one = self.output_functions.iter().any(|known| known == name);
        let mut specs = self.specs().iter();
        specs.find(|spec| is_one && spec.name == name)
    }

    /// Whether an agent below this one streams and this one does not.
    pub(crate) fn streams_in_part(&self) -> bool {
        let streams = |agent: &Arc<Self>| agent.streaming || agent.streams_in_part();
        !self.streaming && self.agents.iter().any(streams)
    }

    /// Fails if the functions and the validators of answers cannot work.
    fn check_output(&self) -> Result<(), AgentError> {
        let agent = || self.name.to_string();
        if let (None, Some(validator)) = (&self.output, self.output_validators.first()) {
            return Err(AgentError::OutputValidator {
                agent: agent(),
                validator: validator.spec().name.clone(),
                problem: "the agent has no type of answers, so add `.output::<T>()`".into(),
            });
        }
        let Some(name) = self.output_functions.first() else {
            return Ok(());
        };
        let problem = match self.mode {
            Mode::Task => {
                "an agent that works on tasks ends them with `finish_task`, so give it a tool, or another mode"
            }
            _ if self.tools.iter().any(|tool| {
                let spec = tool.spec();
                let comes_later = spec.long_running || spec.deferred;
                comes_later && self.output_functions.contains(&spec.name)
            }) =>
            {
                "its result comes later, and the answer is its result"
            }
            _ => return Ok(()),
        };
        Err(AgentError::OutputFunction {
            agent: agent(),
            function: name.clone(),
            problem: problem.into(),
        })
    }

    /// Fails if two tools have the same name.
    fn check_tools(&self) -> Result<(), AgentError> {
        let search = (!self.searchable.is_empty()).then_some(SEARCH);
        let mut seen: BTreeSet<&str> = search.into_iter().collect();
        for tool in &self.tools {
            let name = &*tool.spec().name;
            if !seen.insert(name) {
                return Err(AgentError::DuplicateTool {
                    agent: self.name.to_string(),
                    tool: name.into(),
                });
            }
        }
        Ok(())
    }
}

/// An agent and all agents below it, in the order in which they were added. Each comes before its own sub-agents.
pub(crate) struct AgentTree(Vec<Entry>);

/// An agent, with the indices of its parent and its sub-agents.
pub(crate) struct Entry {
    pub(crate) agent: Arc<Definition>,
    pub(crate) parent: Option<usize>,
    /// The agents above it, from the root, and itself.
    pub(crate) from_root: Vec<usize>,
    pub(crate) children: Vec<usize>,
}

impl AgentTree {
    /// The index of the agent that has all others below it.
    pub(crate) const ROOT: usize = 0;

    /// Lists an agent and the agents below it.
    ///
    /// # Errors
    ///
    /// If two agents have the same name, or if a name is empty or the user's.
    pub(crate) fn of(root: &Arc<Definition>) -> Result<Self, AgentError> {
        let mut tree = AgentTree(Vec::new());
        tree.add(root, None)?;
        Ok(tree)
    }

    fn add(&mut self, agent: &Arc<Definition>, parent: Option<usize>) -> Result<usize, AgentError> {
        let name = &*agent.name;
        if name.is_empty() || name == AgentEvent::USER {
            return Err(AgentError::InvalidName(name.into()));
        }
        if self.index(name).is_some() {
            return Err(AgentError::DuplicateName(name.into()));
        }
        agent.check_tools()?;
        agent.check_output()?;
        let none = Limits::default();
        if parent.is_some() && (agent.turn_limits != none || agent.thread_limits != none) {
            return Err(AgentError::LimitsOfSubAgent(name.into()));
        }
        if parent.is_some() && agent.mode != Mode::SingleTurn && agent.call_limits != none {
            return Err(AgentError::CallLimits(name.into()));
        }
        let index = self.0.len();
        let above = parent.map(|parent| self.entry(parent).from_root.iter());
        let from_root = above.into_iter().flatten().copied().chain([index]);
        let from_root = from_root.collect();
        self.0.push(Entry {
            agent: Arc::clone(agent),
            parent,
            from_root,
            children: Vec::new(),
        });
        for child in &agent.agents {
            let child = self.add(child, Some(index))?;
            self.0[index].children.push(child);
        }
        Ok(index)
    }

    /// The definitions of all agents.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.0.iter().map(|entry| &entry.agent)
    }

    /// Whether the agent at `index` streams its answers: it does if an agent above it does.
    pub(crate) fn streams(&self, index: usize) -> bool {
        self.line(index).any(|index| self.agent(index).streaming)
    }

    pub(crate) fn entry(&self, index: usize) -> &Entry {
        &self.0[index]
    }

    /// The index of the agent with this name.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|entry| &*entry.agent.name == name)
    }

    /// The agents above an agent, from its parent to the root.
    pub(crate) fn above(&self, index: usize) -> impl Iterator<Item = usize> {
        self.line(index).skip(1)
    }

    /// The agent at `index` and those above it, up to the root.
    pub(crate) fn line(&self, index: usize) -> impl Iterator<Item = usize> {
        self.entry(index).from_root.iter().rev().copied()
    }

    /// The definitions of the agents above the one at `index`, from the root, and its own.
    pub(crate) fn agents_from_root(&self, index: usize) -> impl Iterator<Item = &Arc<Definition>> {
        let from_root = self.entry(index).from_root.iter();
        from_root.map(|index| self.agent(*index))
    }

    /// The definition of the agent at `index`.
    pub(crate) fn agent(&self, index: usize) -> &Arc<Definition> {
        &self.entry(index).agent
    }

    /// The model of the agent, or of the nearest agent above it that has one.
    pub(crate) fn model(&self, index: usize) -> Result<&Arc<dyn LlmClient>, AgentError> {
        self.line(index)
            .find_map(|index| self.agent(index).model.as_ref())
            .ok_or_else(|| AgentError::NoModel(self.agent(index).name.to_string()))
    }

    /// The agents below the one at `index` that are its tools.
    pub(crate) fn delegates(&self, index: usize) -> impl Iterator<Item = usize> {
        let children = self.entry(index).children.iter().copied();
        children.filter(|child| self.agent(*child).mode != Mode::Chat)
    }

    /// The agents to which the one at `index` may transfer: its sub-agents, its parent and its peers. Agents in mode
    /// `Task` or `SingleTurn` are called instead, and cannot transfer.
    pub(crate) fn transfer_targets(&self, index: usize) -> Vec<usize> {
        let entry = self.entry(index);
        let converses = |index: &usize| self.agent(*index).mode == Mode::Chat;
        if !converses(&index) {
            return Vec::new();
        }
        let mut targets: Vec<usize> = entry.children.iter().copied().filter(converses).collect();
        let Some(parent) = entry.parent else {
            return targets;
        };
        if entry.agent.transfers.to_parent {
            targets.push(parent);
        }
        // Peers need a parent that can transfer to them.
        if entry.agent.transfers.to_peers && converses(&parent) {
            let peers = self.entry(parent).children.iter().copied();
            targets.extend(peers.filter(|peer| *peer != index).filter(converses));
        }
        targets
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
