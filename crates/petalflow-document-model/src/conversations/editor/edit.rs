//! Changes to a document, as the editor makes them.

use serde_json::Map;

use super::{EditorDocument, Function, Message, Node, NodeData, NodeType, Point, Role};
use crate::conversations::action::Action;

/// Returns a name for a node with this title that no other node has: lower-case letters, digits and `_`.
///
/// ```
/// use petalflow_document_model::conversations::editor::node_id;
///
/// assert_eq!(node_id("Ask for a size!", []), "ask_for_a_size");
/// assert_eq!(node_id("2nd try", []), "node_2nd_try");
/// assert_eq!(node_id("End", ["end", "end_1"]), "end_2");
/// ```
pub fn node_id<'n>(label: &str, existing: impl IntoIterator<Item = &'n str>) -> String {
    let mut id = String::new();
    for c in label.to_lowercase().chars() {
        let c = if c.is_ascii_lowercase() || c.is_ascii_digit() {
            c
        } else {
            '_'
        };
        if c != '_' || !id.ends_with('_') {
            id.push(c);
        }
    }
    let id = id.trim_matches('_');
    let id = match id.chars().next() {
        None => "node".to_owned(),
        Some('0'..='9') => format!("node_{id}"),
        Some(_) => id.to_owned(),
    };
    let existing: std::collections::HashSet<&str> = existing.into_iter().collect();
    unused(
        &id,
        |id| existing.contains(id),
        |id, n| format!("{id}_{n}"),
        1,
    )
}

/// The first form of a name that is not in use.
fn unused(
    name: &str,
    is_used: impl Fn(&str) -> bool,
    numbered: impl Fn(&str, usize) -> String,
    first: usize,
) -> String {
    if !is_used(name) {
        return name.into();
    }
    let mut number = first;
    loop {
        let candidate = numbered(name, number);
        if !is_used(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

/// Returns what is wrong with the name of a function: it must begin with a lower-case letter and have lower-case
/// letters, digits and `_`.
///
/// ```
/// use petalflow_document_model::conversations::editor::function_name_problem;
///
/// assert_eq!(function_name_problem("choose_pizza"), None);
/// assert!(function_name_problem("choosePizza").is_some());
/// ```
pub fn function_name_problem(name: &str) -> Option<String> {
    let is_right = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (!is_right).then(|| {
        format!(
            "'{name}' is not a name for a function: begin with a lower-case letter, and use lower-case letters, digits \
             and `_`"
        )
    })
}

impl EditorDocument {
    /// Renames a node, and every reference to it in functions and decisions.
    ///
    /// The editor leaves the targets of a decision as they are if `next_node_id` of the same function is the node; this
    /// renames both. Stored lines are renamed as well. Returns whether there is such a node.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Node, "Say hello", []));
    /// assert!(document.rename_node("say_hello", "greet"));
    /// assert_eq!(document.nodes[0].id, "greet");
    /// ```
    pub fn rename_node(&mut self, from: &str, to: &str) -> bool {
        let Some(node) = self.nodes.iter_mut().find(|node| node.id == from) else {
            return false;
        };
        node.id = to.into();
        let rename = |id: &mut String| {
            if id == from {
                *id = to.into();
            }
        };
        let of_nodes = self
            .nodes
            .iter_mut()
            .filter_map(|node| node.data.functions.as_mut());
        for function in of_nodes.chain(self.global_functions.as_mut()).flatten() {
            function.targets_mut().for_each(rename);
        }
        for edge in &mut self.edges {
            rename(&mut edge.source);
            rename(&mut edge.target);
        }
        true
    }

    /// Adds a copy of a node, with the same functions, and returns its name. The first node becomes a node between: its
    /// copy has no role.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Initial, "Start", []));
    /// assert_eq!(document.duplicate_node("start").as_deref(), Some("start_copy"));
    /// assert_eq!(document.nodes[1].data.label.as_deref(), Some("Start copy"));
    /// assert_eq!(document.nodes[1].kind, NodeType::Node);
    /// ```
    pub fn duplicate_node(&mut self, id: &str) -> Option<String> {
        let mut copy = self.nodes.iter().find(|node| node.id == id)?.clone();
        let title = copy.data.label.as_deref().unwrap_or(id);
        let labels = self
            .nodes
            .iter()
            .filter_map(|node| node.data.label.as_deref());
        let labels: std::collections::HashSet<&str> = labels.collect();
        let label = unused(
            &format!("{title} copy"),
            |label| labels.contains(label),
            |label, n| format!("{label} {n}"),
            2,
        );
        copy.id = node_id(&label, self.nodes.iter().map(|node| node.id.as_str()));
        copy.data.label = Some(label);
        if copy.kind == NodeType::Initial {
            copy.kind = NodeType::Node;
            copy.data.role_messages = None;
        }
        let id = copy.id.clone();
        self.nodes.push(copy);
        Some(id)
    }

    /// Creates a document without nodes.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::EditorDocument;
    ///
    /// assert_eq!(EditorDocument::new("Greeting").meta.name, "Greeting");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        EditorDocument {
            schema_id: Some(super::SCHEMA_ID.into()),
            meta: super::Meta {
                name: name.into(),
                version: "0.1.0".into(),
                description: None,
                extra: Map::new(),
            },
            global_functions: None,
            nodes: Vec::new(),
            edges: Vec::new(),
            extra: Map::new(),
        }
    }
}

impl Function {
    /// The names of the nodes that can follow, to be changed.
    fn targets_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let of_decision = self.decision.as_mut().into_iter().flat_map(|decision| {
            let conditions = decision.conditions.iter_mut();
            conditions
                .map(|condition| &mut condition.next_node_id)
                .chain([&mut decision.default_next_node_id])
        });
        self.next_node_id.iter_mut().chain(of_decision)
    }
}

impl Node {
    /// Creates a node as the editor offers it: the first with a role and a task, others with a task, and the last one
    /// ends the conversation. `existing` are the names of the other nodes.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{Node, NodeType};
    ///
    /// let node = Node::template(NodeType::End, "Goodbye", []);
    /// assert_eq!(node.data.post_actions.unwrap()[0].kind, "end_conversation");
    /// ```
    pub fn template<'n>(
        kind: NodeType,
        label: &str,
        existing: impl IntoIterator<Item = &'n str>,
    ) -> Self {
        let message = |content: &str| {
            Some(vec![Message {
                role: Role::System,
                content: content.into(),
                extra: Map::new(),
            }])
        };
        let mut data = NodeData {
            label: Some(label.into()),
            task_messages: message("Describe what the model should do."),
            ..NodeData::default()
        };
        match kind {
            NodeType::Initial => data.role_messages = message("Describe who the model is."),
            NodeType::End => {
                data.task_messages = message("Thank the caller and say goodbye.");
                data.post_actions = Some(vec![Action::new(Action::END_CONVERSATION)]);
            }
            NodeType::Node | NodeType::LlmTask => {}
        }
        Node {
            id: node_id(label, existing),
            kind,
            position: Point::new(0.into(), 0.into()),
            data,
            extra: Map::new(),
        }
    }
}

impl Point {
    /// Creates a place.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::Point;
    ///
    /// assert_eq!(Point::new(100.into(), 50.into()).x.as_i64(), Some(100));
    /// ```
    pub fn new(x: serde_json::Number, y: serde_json::Number) -> Self {
        Point {
            x,
            y,
            extra: Map::new(),
        }
    }
}
