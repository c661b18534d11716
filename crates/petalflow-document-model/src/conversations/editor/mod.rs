//! The document of the graphical editor until September 2026: nodes with positions, and functions with their parameters.
//!
//! Since then the editor opens and saves the declarative form, [`config`](super::config), and keeps positions to itself. It opens
//! this form too, and drops the schemas of functions and the conditions of decisions.
//!
//! What the types do not name is kept in the fields `extra`, so that a document that is read and written has lost
//! nothing.

mod derive;
mod edit;
mod own;
mod rules;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::conversations::action::Action;
use crate::conversations::decision::Operator;

pub use derive::{DecisionNode, DerivedEdge};
pub use edit::{function_name_problem, node_id};

/// The value of `$id` in documents of the editor.
pub const SCHEMA_ID: &str = "https://flows.pipecat.ai/schema/flow.json";

/// A conversation flow as the editor stored it until September 2026.
///
/// ```
/// use petalflow_document_model::conversations::editor::{EditorDocument, NodeType, SCHEMA_ID};
/// use serde_json::json;
///
/// let document: EditorDocument = serde_json::from_value(json!({
///     "$id": SCHEMA_ID,
///     "meta": { "name": "Greeting", "version": "1.0.0" },
///     "nodes": [{ "id": "start", "type": "initial", "position": { "x": 0, "y": 0 }, "data": { "label": "Start" } }],
///     "edges": [],
/// }))?;
/// assert_eq!(document.nodes[0].kind, NodeType::Initial);
/// assert_eq!(document.nodes[0].data.label.as_deref(), Some("Start"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditorDocument {
    /// The schema of the document.
    #[serde(rename = "$id", default, skip_serializing_if = "Option::is_none")]
    pub schema_id: Option<String>,
    /// What the flow is called.
    pub meta: Meta,
    /// The functions that every node offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_functions: Option<Vec<Function>>,
    /// The nodes.
    #[schemars(length(min = 1))]
    pub nodes: Vec<Node>,
    /// The lines between nodes, for the picture only. Functions and decisions name what follows.
    pub edges: Vec<Edge>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a flow is called.
///
/// ```
/// use petalflow_document_model::conversations::editor::Meta;
/// use serde_json::json;
///
/// let meta: Meta = serde_json::from_value(json!({ "name": "Greeting", "version": "1.0.0", "author": "Ann" }))?;
/// assert_eq!(meta.extra["author"], "Ann");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The name of the flow.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The version of the flow.
    pub version: String,
    /// What the flow does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A step of the conversation.
///
/// ```
/// use petalflow_document_model::conversations::editor::{Node, NodeType};
/// use serde_json::json;
///
/// let node: Node = serde_json::from_value(json!({
///     "id": "start",
///     "type": "initial",
///     "position": { "x": 0, "y": 0 },
///     "data": { "label": "Start" },
/// }))?;
/// assert_eq!(node.kind, NodeType::Initial);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The name by which functions refer to it.
    #[schemars(length(min = 1))]
    pub id: String,
    /// How the editor shows it.
    #[serde(rename = "type")]
    pub kind: NodeType,
    /// Where the editor shows it.
    pub position: Point,
    /// What happens there.
    pub data: NodeData,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How the editor shows a node.
///
/// ```
/// use petalflow_document_model::conversations::editor::NodeType;
///
/// let kind: NodeType = serde_json::from_str(r#""llm_task""#)?;
/// assert_eq!(kind, NodeType::LlmTask);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeType {
    /// The first node.
    Initial,
    /// A node between.
    Node,
    /// A node that ends the conversation.
    End,
    /// The older name of [`Node`](NodeType::Node).
    LlmTask,
}

/// A place on the canvas, in pixels. The numbers are kept as they are written.
///
/// ```
/// use petalflow_document_model::conversations::editor::Point;
/// use serde_json::json;
///
/// let point: Point = serde_json::from_value(json!({ "x": 120, "y": 40.5 }))?;
/// assert_eq!(point.y.as_f64(), Some(40.5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// From the left.
    #[schemars(with = "f64")]
    pub x: Number,
    /// From the top.
    #[schemars(with = "f64")]
    pub y: Number,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What happens at a node.
///
/// ```
/// use petalflow_document_model::conversations::editor::NodeData;
/// use serde_json::json;
///
/// let data: NodeData = serde_json::from_value(json!({
///     "label": "Start",
///     "task_messages": [{ "role": "system", "content": "Greet the caller." }],
/// }))?;
/// assert_eq!(data.task_messages.unwrap().len(), 1);
/// assert_eq!(data.respond_immediately, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeData {
    /// The title in the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub label: Option<String>,
    /// Who the model is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_messages: Option<Vec<Message>>,
    /// What the model should do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_messages: Option<Vec<Message>>,
    /// The functions that the node offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<Function>>,
    /// What happens before the model responds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_actions: Option<Vec<Action>>,
    /// What happens after the model responded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_actions: Option<Vec<Action>>,
    /// What entering the node does with the messages before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_strategy: Option<ContextStrategy>,
    /// Whether the model responds as soon as the node is entered. The default is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respond_immediately: Option<bool>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message of a node.
///
/// ```
/// use petalflow_document_model::conversations::editor::{Message, Role};
/// use serde_json::json;
///
/// let message: Message = serde_json::from_value(json!({ "role": "system", "content": "Greet the caller." }))?;
/// assert_eq!(message.role, Role::System);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// The text.
    pub content: String,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The program.
    System,
    /// The program, in the runtime's newer word. The editor does not write it.
    Developer,
    /// The caller.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns the role as it is written.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::Role;
    ///
    /// assert_eq!(Role::Developer.as_str(), "developer");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// A function that a node offers to the model.
///
/// ```
/// use petalflow_document_model::conversations::editor::Function;
/// use serde_json::json;
///
/// let function: Function = serde_json::from_value(json!({
///     "name": "save_name",
///     "description": "Saves the name.",
///     "properties": { "name": { "type": "string" } },
///     "required": ["name"],
///     "next_node_id": "menu",
/// }))?;
/// assert_eq!(function.properties.unwrap()["name"].kind, "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its parameters by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<IndexMap<String, Property>>,
    /// The parameters that every call has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// The node that follows. A decision goes before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_node_id: Option<String>,
    /// How the result chooses the node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A parameter of a function. Fields that are not named here, such as `items`, are passed on to the model.
///
/// ```
/// use petalflow_document_model::conversations::editor::{Choice, Property};
/// use serde_json::json;
///
/// let property: Property = serde_json::from_value(json!({ "type": "string", "enum": ["small", "large"] }))?;
/// assert_eq!(property.choices.unwrap()[0], Choice::Text("small".into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Property {
    /// Its type in JSON Schema.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values that it can have.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    /// The smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub minimum: Option<Number>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub maximum: Option<Number>,
    /// A regular expression that a text matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A value that a parameter can have.
///
/// ```
/// use petalflow_document_model::conversations::editor::Choice;
///
/// let choices: Vec<Choice> = serde_json::from_str(r#"["small", 2]"#)?;
/// assert_eq!(choices[0], Choice::Text("small".into()));
/// assert_eq!(choices[1], Choice::Number(2.into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Choice {
    /// A text.
    Text(String),
    /// A number.
    Number(#[schemars(with = "f64")] Number),
}

/// How the result of a function chooses the node that follows.
///
/// ```
/// use petalflow_document_model::conversations::editor::Decision;
/// use serde_json::json;
///
/// let decision: Decision = serde_json::from_value(json!({
///     "action": "result = age",
///     "conditions": [{ "operator": ">", "value": "17", "next_node_id": "adult" }],
///     "default_next_node_id": "minor",
/// }))?;
/// assert_eq!(decision.conditions[0].next_node_id, "adult");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Code in Python that computes `result`. It is never run: the handler of the function returns the result.
    #[schemars(length(min = 1))]
    pub action: String,
    /// The conditions, tried in order.
    pub conditions: Vec<Condition>,
    /// The node if no condition is true.
    #[schemars(length(min = 1))]
    pub default_next_node_id: String,
    /// Where the editor shows the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_node_position: Option<Point>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A condition on a result.
///
/// ```
/// use petalflow_document_model::conversations::editor::Condition;
/// use serde_json::json;
///
/// let condition: Condition = serde_json::from_value(json!({
///     "operator": ">",
///     "value": "17",
///     "next_node_id": "adult",
/// }))?;
/// assert_eq!(condition.operator.as_str(), ">");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The comparison.
    pub operator: Operator,
    /// A literal of Python.
    pub value: String,
    /// The node if the condition is true.
    #[schemars(length(min = 1))]
    pub next_node_id: String,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What entering a node does with the messages before it.
///
/// ```
/// use petalflow_document_model::conversations::editor::{ContextStrategy, Strategy};
/// use serde_json::json;
///
/// let context_strategy: ContextStrategy = serde_json::from_value(json!({
///     "strategy": "RESET_WITH_SUMMARY", "summary_prompt": "In short.",
/// }))?;
/// assert_eq!(context_strategy.strategy, Strategy::ResetWithSummary);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextStrategy {
    /// What it does.
    pub strategy: Strategy,
    /// The instruction to the model for the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_prompt: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What entering a node does with the messages before it.
///
/// ```
/// use petalflow_document_model::conversations::editor::Strategy;
///
/// assert_eq!(serde_json::to_value(Strategy::ResetWithSummary)?, "RESET_WITH_SUMMARY");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Strategy {
    /// Keeps them.
    Append,
    /// Removes them.
    Reset,
    /// Replaces them by a summary that the model writes.
    ResetWithSummary,
}

/// A line between two nodes in the picture.
///
/// ```
/// use petalflow_document_model::conversations::editor::Edge;
/// use serde_json::json;
///
/// let edge: Edge = serde_json::from_value(json!({ "id": "e1", "source": "start", "target": "menu" }))?;
/// assert_eq!((edge.source.as_str(), edge.target.as_str()), ("start", "menu"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// Its name.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The node from which it leads.
    #[schemars(length(min = 1))]
    pub source: String,
    /// The node to which it leads.
    #[schemars(length(min = 1))]
    pub target: String,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl NodeData {
    /// The functions; none if there is no list.
    pub(crate) fn functions(&self) -> &[Function] {
        self.functions.as_deref().unwrap_or_default()
    }
}
