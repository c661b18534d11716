//! The model of agent workflows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Agents, their tasks, and the order of the tasks. [`compile`](Self::compile) makes a graph of it.
///
/// `Deserialize` reads what is there and stops at the first error. To check a document use
/// [`Source::check`](crate::documents::Source::check).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentWorkflow {
    /// The version of the workflow, for people.
    #[serde(default)]
    pub version: String,
    /// The version of the format: a semantic version with the major number 1. Documents without one are accepted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema_version: String,
    /// `agent_workflow`. The older `agent-workflow`, and documents without a kind, are accepted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The name of the workflow.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// The title of the workflow.
    #[serde(default)]
    pub name: String,
    /// The agents by name.
    pub agents: BTreeMap<String, Agent>,
    /// The tasks by name.
    pub tasks: BTreeMap<String, Task>,
    /// The order of the tasks.
    pub execution: Execution,
}

/// A role for a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// What the agent is, such as `Research Analyst`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub role: String,
    /// What it works towards.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub goal: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub backstory: String,
    /// The provider of the model, such as `anthropic`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub provider: String,
    /// The model.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub model: String,
    /// The tools, as `name` or `name.action`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Settings of tools, by the name of the tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_config: BTreeMap<String, Map<String, Value>>,
    /// Settings of the model: `temperature` and `max_tokens`. Others have no effect.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// What one call of the agent by another may use, where agents call each other, as in an editor. A task is no call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_limits: Option<CallLimits>,
}

/// Limits of one call of an agent by another. What is not set has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallLimits {
    /// Requests to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub requests: Option<u64>,
    /// Calls of tools and of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub tool_calls: Option<u64>,
    /// Tokens of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub input_tokens: Option<u64>,
    /// Tokens of answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub output_tokens: Option<u64>,
    /// All tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub total_tokens: Option<u64>,
    /// US dollars. The model must have a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub cost: Option<f64>,
}

/// What an agent does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The prompt. `{{input.x}}` is the variable `x`, and `{{tasks.t.output}}` the result of the task `t`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub description: String,
    /// The agent.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub agent: String,
    /// The result, in words.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub expected_output: String,
    /// The variable for the result. The default is `<task>__<agent>_output`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_key: String,
    /// Named inputs. Each task that one of them names runs before this one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// `human`: a person approves the result before the next tasks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub review: String,
    /// Tasks that run before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// The order of the tasks of an [`AgentWorkflow`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// How the order is given.
    pub strategy: Strategy,
    /// All tasks in order, for [`Strategy::Sequential`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_order: Vec<String>,
    /// How the results are merged, for [`Strategy::Parallel`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub merge_strategy: String,
    /// The agent that chooses the next task, for [`Strategy::Hierarchical`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manager_agent: String,
    /// The dependencies of tasks, for [`Strategy::Custom`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<BTreeMap<String, Dependencies>>,
}

/// How the order of tasks is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// One after the other.
    #[default]
    Sequential,
    /// All at once. A merge follows.
    Parallel,
    /// A manager chooses, again after each task.
    Hierarchical,
    /// By dependencies.
    Custom,
}

/// What a task waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dependencies {
    /// The tasks before it.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// The task is executed only if this expression is true. `tasks.t.output` is the result of the task `t`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub condition: String,
}
