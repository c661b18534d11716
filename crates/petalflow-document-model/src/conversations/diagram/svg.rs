//! Conversations as SVG.

use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};

use super::model::{Diagram, Shape};
use crate::conversations::conversation::Conversation;

impl Conversation {
    /// Returns the conversation as an SVG picture, from the first node at the top.
    ///
    /// ```
    /// # use petalflow_document_model::conversations::Conversation;
    /// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let conversation = Conversation::from_config(&config).unwrap();
    /// assert!(conversation.picture().starts_with("<svg"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "picture")))]
    pub fn picture(&self) -> String {
        let diagram = Diagram::of(self);
        let target = |index: usize| Target::Node(NodeIdx::from_usize(index));
        let first = diagram.first.map(|first| Edge {
            from: Source::Start,
            via: Via::Plain,
            to: target(first),
        });
        let edges = diagram.edges.iter().map(|edge| Edge {
            from: Source::Node(NodeIdx::from_usize(edge.from)),
            via: match &edge.label {
                Some(label) => Via::Route(label.clone().into()),
                None => Via::Plain,
            },
            to: edge.to.map_or(Target::End, target),
        });
        let nodes = diagram.nodes.iter().map(|node| match node.shape {
            Shape::Decision => Node::named(format!("◇ {}", node.label)),
            Shape::Node | Shape::Everywhere => Node::named(node.label.clone()),
        });
        petalflow_graph::picture(&Graph {
            nodes: nodes.collect::<Vec<_>>().into(),
            edges: first.into_iter().chain(edges).collect::<Vec<_>>().into(),
            joins: 0,
        })
    }
}
