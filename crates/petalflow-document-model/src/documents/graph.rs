//! The model of graph definitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A graph in a document: nodes with types and settings, and edges between them.
///
/// ```
/// use petalflow_document_model::documents::GraphDefinition;
///
/// let text = r#"{"id":"g","version":"1","nodes":[{"id":"a","type":"noop"}],"edges":[]}"#;
/// let graph: GraphDefinition = serde_json::from_str(text)?;
/// assert_eq!(serde_json::to_string(&graph)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// `Deserialize` reads what is there and stops at the first error. To check a document use
/// [`Source::check`](crate::documents::Source::check).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GraphDefinition {
    /// The name of the graph.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// The version of the graph, for people.
    #[serde(default)]
    pub version: String,
    /// The version of the format: a semantic version with the major number 1. Documents without one are accepted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema_version: String,
    /// `graph`. Documents without a kind are accepted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Texts for tools around the graph. They have no effect on it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The nodes. Changes of nodes that run together are applied in this order.
    pub nodes: Vec<NodeDefinition>,
    /// The edges.
    pub edges: Vec<EdgeDefinition>,
    /// The first node. The default is the first node that no edge leads to, and otherwise the first node.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entry: String,
}

/// A node of a [`GraphDefinition`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodeDefinition {
    /// The name of the node.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// Its type, such as `llm_prompt`, or the name of a tool.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub kind: String,
    /// Its settings. Each type has its own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// An edge of a [`GraphDefinition`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EdgeDefinition {
    /// The node that the edge begins at.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
    /// The output of that node. For a node that chooses: the name of the choice that takes this edge.
    #[serde(default = "output")]
    pub source_handle: String,
    /// The node that the edge leads to.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub target: String,
    /// The input of that node. It has no effect.
    #[serde(default = "input")]
    pub target_handle: String,
}

fn output() -> String {
    "output".into()
}

fn input() -> String {
    "input".into()
}

impl EdgeDefinition {
    /// An edge between two nodes: from `output` of the first to `input` of the second.
    ///
    /// ```
    /// use petalflow_document_model::documents::EdgeDefinition;
    ///
    /// assert_eq!(EdgeDefinition::new("a", "b").source_handle, "output");
    /// ```
    pub fn new(source: impl Into<String>, target: impl Into<String>) -> Self {
        EdgeDefinition {
            source: source.into(),
            source_handle: output(),
            target: target.into(),
            target_handle: input(),
        }
    }
}

impl GraphDefinition {
    /// The first node: [`entry`](Self::entry), or else the first node that no edge leads to, or else the first node.
    ///
    /// ```
    /// use petalflow_document_model::documents::{EdgeDefinition, GraphDefinition, NodeDefinition};
    ///
    /// let node = |id: &str| NodeDefinition { id: id.into(), ..NodeDefinition::default() };
    /// let mut graph = GraphDefinition { nodes: vec![node("b"), node("a")], ..GraphDefinition::default() };
    /// graph.edges = vec![EdgeDefinition::new("a", "b")];
    /// assert_eq!(graph.entry(), Some("a"));
    /// ```
    pub fn entry(&self) -> Option<&str> {
        if !self.entry.is_empty() {
            return Some(&self.entry);
        }
        let targets: std::collections::HashSet<&str> =
            self.edges.iter().map(|edge| edge.target.as_str()).collect();
        let free = self
            .nodes
            .iter()
            .find(|node| !targets.contains(node.id.as_str()));
        free.or(self.nodes.first()).map(|node| node.id.as_str())
    }

    /// The node with this name.
    pub fn node(&self, id: &str) -> Option<&NodeDefinition> {
        self.nodes.iter().find(|node| node.id == id)
    }
}
