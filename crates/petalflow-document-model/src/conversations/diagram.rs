//! Conversations as graphs, which `petalflow-graph` draws.

use std::collections::HashMap;

use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};

use crate::conversations::action::Action;
use crate::conversations::conversation::{Conversation, Function, Next};

impl Conversation {
    /// Returns the conversation as a Mermaid diagram. A node whose functions lead to other nodes, and a function that chooses
    /// the node, are diamonds. A node without functions leads to the end.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "hello", "nodes": { "hello": { "task_messages": [],
    /// #     "post_actions": [{ "type": "end_conversation" }] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert_eq!(
    ///     conversation.mermaid(),
    ///     "graph TD\n    START([START])\n    END([END])\n    hello[hello]\n    START --> hello\n    hello --> END\n",
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn mermaid(&self) -> String {
        petalflow_graph::mermaid(&graph(self))
    }

    /// Returns the conversation in the DOT language of Graphviz.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert!(conversation.dot().contains("\"START\" -> \"a\";"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn dot(&self) -> String {
        petalflow_graph::dot(&graph(self))
    }

    /// Returns the conversation as an SVG picture, from the first node at the top.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert!(conversation.picture().starts_with("<svg"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[cfg(feature = "picture")]
    #[cfg_attr(docsrs, doc(cfg(feature = "picture")))]
    pub fn picture(&self) -> String {
        petalflow_graph::picture(&graph(self))
    }
}

/// The nodes of the conversation, one node for each function that chooses the next node, and one that stands for every node,
/// from which global functions lead.
fn graph(conversation: &Conversation) -> Graph {
    let labels = conversation.nodes.iter();
    let labels = labels.map(|(name, node)| node.label.clone().unwrap_or_else(|| name.clone()));
    let indices = conversation.nodes.keys().enumerate();
    let mut drawing = Drawing {
        nodes: labels.map(Node::named).collect(),
        edges: Vec::new(),
        indices: indices.map(|(at, name)| (name.as_str(), at)).collect(),
    };
    if let Some(first) = drawing.index(&conversation.initial_node) {
        drawing.add_edge(Source::Start, Some(first), None);
    }
    for (at, node) in conversation.nodes.values().enumerate() {
        for function in &node.functions {
            drawing.add_function(function, at, Some(at));
        }
        let mut actions = node.pre_actions.iter().chain(&node.post_actions);
        if actions.any(|action| action.kind == Action::END_CONVERSATION) {
            drawing.add_edge(of_node(at), None, None);
        }
    }
    let globals = &conversation.global_functions;
    if globals.iter().any(|it| it.next != Next::Stay) {
        let at = drawing.add_node("any node");
        for function in globals {
            drawing.add_function(function, at, None);
        }
    }
    Graph {
        nodes: drawing.nodes.into(),
        edges: drawing.edges.into(),
        joins: 0,
    }
}

struct Drawing<'c> {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The nodes of the conversation by name.
    indices: HashMap<&'c str, usize>,
}

fn of_node(index: usize) -> Source {
    Source::Node(NodeIdx::from_usize(index))
}

impl Drawing<'_> {
    /// A target that does not exist is an error of the document, and has no edge.
    fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    fn add_node(&mut self, label: &str) -> usize {
        self.nodes.push(Node::named(label.to_owned()));
        self.nodes.len() - 1
    }

    /// Adds an edge. `None` as the target is the end.
    fn add_edge(&mut self, from: Source, to: Option<usize>, label: Option<String>) {
        self.edges.push(Edge {
            from,
            via: label.map_or(Via::Plain, |label| Via::Route(label.into())),
            to: to.map_or(Target::End, |to| Target::Node(NodeIdx::from_usize(to))),
        });
    }

    /// Adds the edges of a function. `stays` is the node in which the conversation stays.
    fn add_function(&mut self, function: &Function, from: usize, stays: Option<usize>) {
        let name = &function.name;
        let cases: Vec<(Option<usize>, String)> = match &function.next {
            Next::Stay => return,
            Next::Node(node) => {
                if let Some(to) = self.index(node) {
                    self.add_edge(of_node(from), Some(to), Some(name.clone()));
                }
                return;
            }
            Next::Branch(branch) => {
                let field = &branch.field;
                let cases = branch.cases.iter();
                let cases =
                    cases.map(|(case, node)| (self.index(node), format!("{field} is {case}")));
                let other = match &branch.default {
                    Some(node) => (self.index(node), "default".to_owned()),
                    None => (stays, "other".to_owned()),
                };
                cases.chain([other]).collect()
            }
            Next::Decision(decision) => {
                let conditions = decision.conditions.iter().map(|it| {
                    let label = format!("result {} {}", it.operator.as_str(), it.value);
                    (self.index(&it.node), label)
                });
                let default = (self.index(&decision.default), "default".to_owned());
                conditions.chain([default]).collect()
            }
        };
        let choice = self.add_node(name);
        self.add_edge(of_node(from), Some(choice), None);
        for (to, label) in cases {
            if to.is_some() {
                self.add_edge(of_node(choice), to, Some(label));
            }
        }
    }
}
