//! The static documents: nodes by name, and functions with their parameters.
//!
//! In the oldest form a node has `messages`, and a function with the name of a node leads there. Later a function names the
//! node that follows, and has its parameters in the form of a provider's tools, or beside its name: see [`Offered`].

mod described;
mod offered;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversations::action::Action;
use crate::conversations::message::Message;

pub(crate) use described::{Described, UNREAD};
pub use offered::{
    AnthropicFunction, BedrockSchema, BedrockSpec, BedrockTool, FlatFunction, GeminiTool, Offered,
    PlainFunction, Tool, ToolKind,
};

/// A conversation flow in one of the static forms.
///
/// ```
/// use petalflow_document_model::conversations::legacy::StaticFlow;
///
/// let flow: StaticFlow = serde_json::from_str(
///     r#"{ "initial_node": "start", "nodes": { "start": { "messages": [{ "role": "system", "content": "Hello." }] } } }"#,
/// )?;
/// assert!(flow.is_oldest_form());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaticFlow {
    /// The node in which the conversation starts.
    pub initial_node: String,
    /// The nodes by name.
    #[schemars(extend("minProperties" = 1))]
    pub nodes: IndexMap<String, Node>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A step of the conversation.
///
/// ```
/// use petalflow_document_model::conversations::legacy::Node;
/// use serde_json::json;
///
/// let node: Node = serde_json::from_value(json!({ "task_messages": [{ "role": "system", "content": "Hello." }] }))?;
/// assert!(node.messages.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// What the model should do, in the oldest form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
    /// Who the model is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_messages: Option<Vec<Message>>,
    /// What the model should do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_messages: Option<Vec<Message>>,
    /// The functions that the node offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<Offered>>,
    /// What happens before the model responds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_actions: Option<Vec<Action>>,
    /// What happens after the model responded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_actions: Option<Vec<Action>>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function that a node offers to the model.
///
/// ```
/// use petalflow_document_model::conversations::legacy::Function;
/// use serde_json::json;
///
/// let function: Function = serde_json::from_value(json!({ "name": "find", "description": "Finds films." }))?;
/// assert!(function.transition_to.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// Its code, as `__function__:name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The schema of the arguments of a function.
///
/// ```
/// use petalflow_document_model::conversations::legacy::Parameters;
/// use serde_json::json;
///
/// let parameters: Parameters = serde_json::from_value(json!({
///     "type": "object", "properties": { "title": { "type": "string" } },
/// }))?;
/// assert_eq!(parameters.properties["title"]["type"], "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameters {
    /// The parameters by name, each with its schema.
    #[serde(default)]
    pub properties: IndexMap<String, Map<String, Value>>,
    /// The parameters that every call has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// All other fields, such as `type`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl StaticFlow {
    /// Whether this is the oldest form: a node has `messages`, and a function with the name of a node leads there.
    pub fn is_oldest_form(&self) -> bool {
        self.nodes.values().any(|node| node.messages.is_some())
    }
}

impl Function {
    /// The name of the code in the program, without its prefix.
    ///
    /// ```
    /// use petalflow_document_model::conversations::legacy::Function;
    ///
    /// let function: Function = serde_json::from_str(r#"{ "name": "find", "handler": "__function__:get_movies" }"#)?;
    /// assert_eq!(function.handler_name(), Some("get_movies"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn handler_name(&self) -> Option<&str> {
        let handler = self.handler.as_deref()?;
        Some(handler.strip_prefix("__function__:").unwrap_or(handler))
    }
}
