//! The declarative document, `FlowConfig`: nodes by name, with the functions in code.

mod rules;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::conversations::action::Action;
use crate::conversations::message::Message;

/// A conversation flow as data. The functions that it names are in code.
///
/// Prompts and the texts of `tts_say` may have [placeholders](crate::conversations::Template).
///
/// ```
/// use petalflow_document_model::conversations::config::FlowConfig;
/// use serde_json::json;
///
/// let config: FlowConfig = serde_json::from_value(json!({
///     "initial_node": "start",
///     "nodes": { "start": { "task_messages": [{ "role": "developer", "content": "Greet the caller." }] } },
/// }))?;
/// assert!(config.findings().is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// The node in which the conversation starts.
    pub initial_node: String,
    /// The nodes by name.
    #[schemars(extend("minProperties" = 1))]
    pub nodes: IndexMap<String, Node>,
    /// The functions that every node offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub global_functions: Vec<Function>,
}

/// A step of the conversation.
///
/// ```
/// use petalflow_document_model::conversations::config::Node;
/// use serde_json::json;
///
/// let node: Node = serde_json::from_value(json!({
///     "task_messages": [{ "role": "developer", "content": "Ask for a name." }],
///     "functions": [{ "name": "save_name", "transition_to": "menu" }],
/// }))?;
/// assert_eq!(node.functions[0].name, "save_name");
/// assert!(node.respond_immediately);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// What the model should do here.
    pub task_messages: Vec<Message>,
    /// Who the model is. It holds until another node sets its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_message: Option<String>,
    /// The functions that this node offers, besides the global ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    /// What happens before the model responds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_actions: Vec<Action>,
    /// What happens after the model responded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_actions: Vec<Action>,
    /// What entering the node does with the messages before it. The default is that of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_strategy: Option<ContextStrategy>,
    /// Whether the model responds as soon as the node is entered.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub respond_immediately: bool,
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What entering a node does with the messages before it.
///
/// ```
/// use petalflow_document_model::conversations::config::ContextStrategy;
///
/// assert_eq!(serde_json::to_value(ContextStrategy::Reset)?, "reset");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextStrategy {
    /// Keeps them.
    Append,
    /// Removes them.
    Reset,
}

/// A function that a node offers to the model.
///
/// ```
/// use petalflow_document_model::conversations::config::{Function, Transition};
/// use serde_json::json;
///
/// let function: Function = serde_json::from_value(json!({ "name": "save_name", "transition_to": "menu" }))?;
/// assert_eq!(function.transition_to, Some(Transition::Node("menu".into())));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Its name, for the model and in code.
    pub name: String,
    /// Whether the function has no code: it takes no arguments and only leads to `transition_to`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub transition_only: bool,
    /// What it is for. Only functions without code have it here; others describe themselves in code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The node that follows. Without it the conversation stays in its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<Transition>,
}

/// The node that follows a function.
///
/// ```
/// use petalflow_document_model::conversations::config::Transition;
/// use serde_json::json;
///
/// let transition: Transition = serde_json::from_value(json!({ "field": "free", "cases": { "true": "confirm" } }))?;
/// assert!(matches!(transition, Transition::Branch(_)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Transition {
    /// Always this one.
    Node(String),
    /// The one that a field of the result chooses.
    Branch(Branch),
}

impl<'de> Deserialize<'de> for Transition {
    /// By the shape of the value, so that a mistake in a branch is reported as one.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByShape;

        impl<'de> de::Visitor<'de> for ByShape {
            type Value = Transition;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a node, or a branch")
            }

            fn visit_str<E: de::Error>(self, node: &str) -> Result<Transition, E> {
                Ok(Transition::Node(node.into()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Transition, A::Error> {
                let branch = Branch::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Transition::Branch(branch))
            }
        }

        deserializer.deserialize_any(ByShape)
    }
}

/// Nodes by the value of a field of a function's result.
///
/// ```
/// use petalflow_document_model::conversations::config::Branch;
/// use serde_json::json;
///
/// let branch: Branch = serde_json::from_value(json!({
///     "field": "free", "cases": { "true": "confirm", "false": "sorry" },
/// }))?;
/// assert_eq!(branch.cases["true"], "confirm");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// The name of the field.
    pub field: String,
    /// The nodes by the [text](crate::conversations::case_key) of the value.
    #[schemars(extend("minProperties" = 1))]
    pub cases: IndexMap<String, String>,
    /// The node for all other values. Without it the conversation stays in its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl Function {
    /// The names of the nodes that can follow.
    ///
    /// ```
    /// use petalflow_document_model::conversations::config::Function;
    /// use serde_json::json;
    ///
    /// let function: Function = serde_json::from_value(json!({
    ///     "name": "book",
    ///     "transition_to": { "field": "status", "cases": { "free": "confirm" }, "default": "sorry" },
    /// }))?;
    /// assert_eq!(function.targets().collect::<Vec<_>>(), ["confirm", "sorry"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        let (node, branch) = match &self.transition_to {
            None => (None, None),
            Some(Transition::Node(node)) => (Some(node), None),
            Some(Transition::Branch(branch)) => (None, Some(branch)),
        };
        let of_branch = branch
            .into_iter()
            .flat_map(|branch| branch.cases.values().chain(&branch.default));
        node.into_iter().chain(of_branch).map(String::as_str)
    }
}
