//! What the editor computes from a document: the types of nodes, the lines, the places of decisions.

use serde_json::Number;

use super::{EditorDocument, Function, Node, NodeData, NodeType};
use crate::conversations::action::Action;

/// A line that the editor draws because a function or a decision names a node.
///
/// ```
/// use petalflow_document_model::conversations::editor::EditorDocument;
/// # let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "node",
/// #     "position": { "x": 0, "y": 0 }, "data": { "functions": [
/// #     { "name": "again", "description": "Again.", "next_node_id": "a" }] } }] }"#;
///
/// let document: EditorDocument = serde_json::from_str(text)?;
/// let edge = &document.derived_edges()[0];
/// assert_eq!((edge.source.as_str(), edge.target.as_str()), ("a", "a"));
/// assert!(!edge.of_decision);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedEdge {
    /// Its name.
    pub id: String,
    /// The node or the decision from which it leads.
    pub source: String,
    /// The node or the decision to which it leads.
    pub target: String,
    /// Its text.
    pub label: Option<String>,
    /// Whether it belongs to a decision. Such lines are not part of an exported document.
    pub of_decision: bool,
}

impl DerivedEdge {
    /// Whether the line leads to the node from which it comes. The editor draws it as a loop.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    /// # let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "node",
    /// #     "position": { "x": 0, "y": 0 }, "data": { "functions": [
    /// #     { "name": "again", "description": "Again.", "next_node_id": "a" }] } }] }"#;
    ///
    /// let document: EditorDocument = serde_json::from_str(text)?;
    /// assert!(document.derived_edges()[0].is_loop());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn is_loop(&self) -> bool {
        self.source == self.target
    }
}

/// A decision as the editor shows it: a node of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionNode {
    /// Its name, `decision-<node>-<function>`.
    pub id: String,
    /// The node whose function decides.
    pub node: String,
    /// The function that decides.
    pub function: String,
    /// The place from the left.
    pub x: f64,
    /// The place from the top.
    pub y: f64,
}

/// The name of the node that the editor shows for a decision.
fn decision_id(node: &str, function: &str) -> String {
    format!("decision-{node}-{function}")
}

impl NodeData {
    /// Returns the type that the editor derives: a node that ends the conversation, else one with a role, else a node
    /// between.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{NodeData, NodeType};
    ///
    /// assert_eq!(NodeData::default().derived_type(), NodeType::Node);
    /// ```
    pub fn derived_type(&self) -> NodeType {
        let actions = self.post_actions.as_deref().unwrap_or_default();
        if actions
            .iter()
            .any(|action| action.kind == Action::END_CONVERSATION)
        {
            return NodeType::End;
        }
        match &self.role_messages {
            Some(messages) if !messages.is_empty() => NodeType::Initial,
            _ => NodeType::Node,
        }
    }
}

impl EditorDocument {
    /// Returns the lines that follow from functions and decisions, in the order of the document.
    ///
    /// A function with a decision has no line of its own.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    /// # let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "node",
    /// #     "position": { "x": 0, "y": 0 }, "data": { "functions": [
    /// #     { "name": "go", "description": "Go on.", "next_node_id": "b" }] } }] }"#;
    ///
    /// let document: EditorDocument = serde_json::from_str(text)?;
    /// assert_eq!(document.derived_edges()[0].id, "func-a-go-b");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn derived_edges(&self) -> Vec<DerivedEdge> {
        let mut edges = Vec::new();
        for node in &self.nodes {
            for function in node.data.functions() {
                function_edges(&node.id, function, &mut edges);
            }
        }
        edges
    }

    /// Returns the decisions as the editor shows them. Without a stored place, a decision is 150 pixels below its node.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    /// # let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "node",
    /// #     "position": { "x": 10, "y": 20 }, "data": { "functions": [
    /// #     { "name": "go", "description": "Go on.", "decision": { "action": "result = 1", "conditions": [],
    /// #     "default_next_node_id": "a" } }] } }] }"#;
    ///
    /// let document: EditorDocument = serde_json::from_str(text)?;
    /// let decision = &document.decision_nodes()[0];
    /// assert_eq!((decision.id.as_str(), decision.x, decision.y), ("decision-a-go", 10.0, 170.0));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn decision_nodes(&self) -> Vec<DecisionNode> {
        let of_node = |node: &Node| {
            let decisions = node.data.functions().iter().filter_map(|function| {
                let decision = function.decision.as_ref()?;
                let (x, y) = match &decision.decision_node_position {
                    Some(stored) => (float(&stored.x), float(&stored.y)),
                    None => (float(&node.position.x), float(&node.position.y) + 150.0),
                };
                Some(DecisionNode {
                    id: decision_id(&node.id, &function.name),
                    node: node.id.clone(),
                    function: function.name.clone(),
                    x,
                    y,
                })
            });
            decisions.collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of_node).collect()
    }

    /// The names of the decisions that the editor shows.
    pub(super) fn decision_ids(&self) -> impl Iterator<Item = String> {
        let of_node = |node: &Node| {
            let functions = node.data.functions().iter();
            let deciding = functions.filter(|function| function.decision.is_some());
            let ids = deciding.map(|function| decision_id(&node.id, &function.name));
            ids.collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of_node)
    }

    /// Returns the node and the function of a decision that the editor shows, by its name.
    ///
    /// The editor takes the name apart at the first `-` after the prefix, and so finds the wrong node if the name of a
    /// node has one. This looks for a function that has a decision of this name.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    /// # let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "ask-name", "type": "node",
    /// #     "position": { "x": 0, "y": 0 }, "data": { "functions": [
    /// #     { "name": "go", "description": "Go on.", "decision": { "action": "result = 1", "conditions": [],
    /// #     "default_next_node_id": "ask-name" } }] } }] }"#;
    ///
    /// let document: EditorDocument = serde_json::from_str(text)?;
    /// assert_eq!(document.decision_source("decision-ask-name-go"), Some(("ask-name", "go")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn decision_source(&self, decision: &str) -> Option<(&str, &str)> {
        self.nodes.iter().find_map(|node| {
            let mut functions = node.data.functions().iter();
            let function = functions.find(|function| {
                function.decision.is_some() && decision_id(&node.id, &function.name) == decision
            })?;
            Some((node.id.as_str(), function.name.as_str()))
        })
    }
}

fn function_edges(node: &str, function: &Function, edges: &mut Vec<DerivedEdge>) {
    let name = &function.name;
    let Some(decision) = &function.decision else {
        if let Some(target) = function.next_node_id.as_deref()
            && !target.is_empty()
            && !name.is_empty()
        {
            edges.push(DerivedEdge {
                id: format!("func-{node}-{name}-{target}"),
                source: node.into(),
                target: target.into(),
                label: Some(name.clone()),
                of_decision: false,
            });
        }
        return;
    };
    let id = decision_id(node, name);
    let edge = |edge_id: String, source: &str, target: &str, label: Option<String>| DerivedEdge {
        id: edge_id,
        source: source.into(),
        target: target.into(),
        label,
        of_decision: true,
    };
    edges.push(edge(format!("edge-{node}-{id}"), node, &id, None));
    for (index, condition) in decision.conditions.iter().enumerate() {
        let target = &condition.next_node_id;
        let label = format!("result {} {}", condition.operator.as_str(), condition.value);
        edges.push(edge(
            format!("edge-{id}-cond-{index}-{target}"),
            &id,
            target,
            Some(label),
        ));
    }
    let target = &decision.default_next_node_id;
    edges.push(edge(
        format!("edge-{id}-default-{target}"),
        &id,
        target,
        Some("default".into()),
    ));
}

pub(super) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}
