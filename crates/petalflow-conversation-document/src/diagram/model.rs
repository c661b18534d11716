//! The nodes and lines of the diagram of a conversation.

use std::collections::HashMap;

use crate::action::Action;
use crate::conversation::{Conversation, Function, Next};

/// Nodes and lines.
pub(super) struct Diagram {
    pub(super) vertices: Vec<Vertex>,
    pub(super) lines: Vec<Line>,
    /// The first node.
    pub(super) first: Option<usize>,
}

pub(super) struct Vertex {
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

pub(super) struct Line {
    pub(super) from: usize,
    /// `None`: the end of the conversation.
    pub(super) to: Option<usize>,
    pub(super) label: Option<String>,
}

impl Diagram {
    pub(super) fn of(conversation: &Conversation) -> Self {
        let vertices = conversation.nodes.iter().map(|(name, node)| Vertex {
            id: name.clone(),
            label: node.label.clone().unwrap_or_else(|| name.clone()),
            shape: Shape::Node,
        });
        let indices = conversation.nodes.keys().enumerate();
        let indices: HashMap<&str, usize> = indices.map(|(at, name)| (name.as_str(), at)).collect();
        let mut diagram = Diagram {
            vertices: vertices.collect(),
            lines: Vec::new(),
            first: indices.get(conversation.initial_node.as_str()).copied(),
        };
        for (at, node) in conversation.nodes.values().enumerate() {
            for function in &node.functions {
                diagram.function(function, at, Some(at), &indices);
            }
            let mut actions = node.pre_actions.iter().chain(&node.post_actions);
            if actions.any(|action| action.kind == Action::END_CONVERSATION) {
                diagram.line(at, None, None);
            }
        }
        let globals = &conversation.global_functions;
        if globals.iter().any(|it| it.next != Next::Stay) {
            let at = diagram.vertex("any_node".into(), "any node".into(), Shape::Everywhere);
            for function in globals {
                diagram.function(function, at, None, &indices);
            }
        }
        diagram
    }

    fn vertex(&mut self, id: String, label: String, shape: Shape) -> usize {
        self.vertices.push(Vertex { id, label, shape });
        self.vertices.len() - 1
    }

    fn line(&mut self, from: usize, to: Option<usize>, label: Option<String>) {
        self.lines.push(Line { from, to, label });
    }

    /// The lines of a function. `stays` is the node in which the conversation stays.
    fn function(
        &mut self,
        function: &Function,
        from: usize,
        stays: Option<usize>,
        indices: &HashMap<&str, usize>,
    ) {
        // A target that does not exist is an error of the document, and has no line.
        let index = |name: &str| indices.get(name).copied();
        let name = &function.name;
        let cases: Vec<(Option<usize>, String)> = match &function.next {
            Next::Stay => return,
            Next::Node(node) => {
                if let Some(to) = index(node) {
                    self.line(from, Some(to), Some(name.clone()));
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
        let id = format!("{}-{name}", self.vertices[from].id);
        let decision = self.vertex(id, name.clone(), Shape::Decision);
        self.line(from, Some(decision), None);
        for (to, label) in cases {
            if to.is_some() {
                self.line(decision, to, Some(label));
            }
        }
    }
}
