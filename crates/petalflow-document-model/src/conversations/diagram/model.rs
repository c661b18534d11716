//! The nodes and edges of the diagram of a conversation.

use std::collections::HashMap;

use crate::conversations::action::Action;
use crate::conversations::conversation::{Conversation, Function, Next};

/// Nodes and edges.
pub(super) struct Diagram {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// The first node.
    pub(super) first: Option<usize>,
}

pub(super) struct Node {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Node,
    /// Stands for every node: global functions lead from it.
    Everywhere,
    /// Chooses the node that follows by the result of a function.
    Decision,
}

pub(super) struct Edge {
    pub(super) from: usize,
    /// `None`: the end of the conversation.
    pub(super) to: Option<usize>,
    pub(super) label: Option<String>,
}

impl Diagram {
    pub(super) fn of(conversation: &Conversation) -> Self {
        let nodes = conversation.nodes.iter().map(|(name, node)| Node {
            id: name.clone(),
            label: node.label.clone().unwrap_or_else(|| name.clone()),
            shape: Shape::Node,
        });
        let indices = conversation.nodes.keys().enumerate();
        let indices: HashMap<&str, usize> = indices.map(|(at, name)| (name.as_str(), at)).collect();
        let mut diagram = Diagram {
            nodes: nodes.collect(),
            edges: Vec::new(),
            first: indices.get(conversation.initial_node.as_str()).copied(),
        };
        for (at, node) in conversation.nodes.values().enumerate() {
            for function in &node.functions {
                diagram.add_function(function, at, Some(at), &indices);
            }
            let mut actions = node.pre_actions.iter().chain(&node.post_actions);
            if actions.any(|action| action.kind == Action::END_CONVERSATION) {
                diagram.add_edge(at, None, None);
            }
        }
        let globals = &conversation.global_functions;
        if globals.iter().any(|it| it.next != Next::Stay) {
            let at = diagram.add_node("any_node".into(), "any node".into(), Shape::Everywhere);
            for function in globals {
                diagram.add_function(function, at, None, &indices);
            }
        }
        diagram
    }

    fn add_node(&mut self, id: String, label: String, shape: Shape) -> usize {
        self.nodes.push(Node { id, label, shape });
        self.nodes.len() - 1
    }

    fn add_edge(&mut self, from: usize, to: Option<usize>, label: Option<String>) {
        self.edges.push(Edge { from, to, label });
    }

    /// Adds the edges of a function. `stays` is the node in which the conversation stays.
    fn add_function(
        &mut self,
        function: &Function,
        from: usize,
        stays: Option<usize>,
        indices: &HashMap<&str, usize>,
    ) {
        // A target that does not exist is an error of the document, and has no edge.
        let index = |name: &str| indices.get(name).copied();
        let name = &function.name;
        let cases: Vec<(Option<usize>, String)> = match &function.next {
            Next::Stay => return,
            Next::Node(node) => {
                if let Some(to) = index(node) {
                    self.add_edge(from, Some(to), Some(name.clone()));
                }
                return;
            }
            Next::Branch(branch) => {
                let field = &branch.field;
                let cases = branch.cases.iter();
                let cases = cases.map(|(case, node)| (index(node), format!("{field} is {case}")));
                let other = match &branch.default {
                    Some(node) => (index(node), "default".to_owned()),
                    None => (stays, "other".to_owned()),
                };
                cases.chain([other]).collect()
            }
            Next::Decision(decision) => {
                let conditions = decision.conditions.iter().map(|it| {
                    let label = format!("result {} {}", it.operator.as_str(), it.value);
                    (index(&it.node), label)
                });
                let default = (index(&decision.default), "default".to_owned());
                conditions.chain([default]).collect()
            }
        };
        let id = format!("{}-{name}", self.nodes[from].id);
        let decision = self.add_node(id, name.clone(), Shape::Decision);
        self.add_edge(from, Some(decision), None);
        for (to, label) in cases {
            if to.is_some() {
                self.add_edge(decision, to, Some(label));
            }
        }
    }
}
