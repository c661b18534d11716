//! The graph of a flow as JSON.

use petalflow_graph::{Graph, Source, Target, Via};
use serde_json::{Value, json};

/// The nodes and the edges, by name. An edge through a join leads from each of its sides to `&1`, and from there on.
pub(super) fn value(graph: &Graph) -> Value {
    let name = |index| graph.node(index).name.as_ref();
    let join = |index: usize| format!("&{}", index + 1);
    let nodes = graph.nodes.iter().map(|node| {
        let kind = if node.subflow { "subflow" } else { "node" };
        json!({ "id": node.name, "kind": kind })
    });
    let edges = graph.edges.iter().map(|edge| {
        let from = match edge.from {
            Source::Start => "START".to_string(),
            Source::Node(node) => name(node).to_string(),
            Source::Join(at) => join(at.index()),
        };
        let to = match edge.to {
            Target::End => "END".to_string(),
            Target::Node(node) => name(node).to_string(),
            Target::Join(at) => join(at.index()),
        };
        let kind = match edge.via {
            Via::Plain => "edge",
            Via::Each | Via::RouteEach(_) => "each",
            Via::Route(_) => "route",
            Via::Catch => "catch",
        };
        json!({ "from": from, "to": to, "kind": kind, "label": edge.via.route() })
    });
    json!({ "nodes": nodes.collect::<Value>(), "edges": edges.collect::<Value>() })
}
