//! The outline of a graph: the names of its nodes, edges and joins as a checkpoint has them.

use crate::codec::{GraphOutline, NodeOutline, quoted};
use petalflow_graph::{Edge, Graph, JoinIdx, Source, Target, Via};

/// The stored name of a join, and those of its sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinName {
    pub name: String,
    pub sides: Vec<String>,
}

/// The outline of a graph with these nodes, and the names of its joins, by index.
pub fn graph_outline(graph: &Graph, nodes: Vec<NodeOutline>) -> (GraphOutline, Vec<JoinName>) {
    let joins = joins(graph, &nodes);
    // The name of a join contains the edges into it and out of it.
    let edges = graph.edges().iter().filter(|edge| {
        !matches!(edge.to, Target::Join(_)) && !matches!(edge.from, Source::Join(_))
    });
    let edges = edges.map(|edge| {
        let (from, to) = (source(&nodes, &joins, edge), target(&nodes, edge.to));
        format!("{from} -> {to}")
    });
    let outline = GraphOutline {
        edges: edges.collect(),
        joins: joins.iter().map(|join| join.name.clone()).collect(),
        nodes,
    };
    (outline, joins)
}

fn joins(graph: &Graph, nodes: &[NodeOutline]) -> Vec<JoinName> {
    let mut joins: Vec<JoinName> = Vec::new();
    for join in JoinIdx::all(graph.joins as usize) {
        let sides = graph.sides(join).into_iter();
        let sides: Vec<String> = sides.map(|edge| source(nodes, &joins, edge)).collect();
        let targets = graph
            .edges()
            .iter()
            .filter(|edge| edge.from == Source::Join(join));
        let mut targets: Vec<String> = targets.map(|edge| target(nodes, edge.to)).collect();
        // Sorted: the order of the sides has no influence.
        let mut sorted = sides.clone();
        sorted.sort_unstable();
        targets.sort_unstable();
        joins.push(JoinName {
            name: format!("{} -> {}", sorted.join(" & "), targets.join(" & ")),
            sides,
        });
    }
    joins
}

/// The source of an edge, and the condition under which the edge fires.
fn source(nodes: &[NodeOutline], joins: &[JoinName], edge: &Edge) -> String {
    let from = match edge.from {
        Source::Start => "START".into(),
        Source::Node(node) => quoted(&nodes[node.index()].name).into_owned(),
        // A join of joins comes after those that it waits for.
        Source::Join(join) => joins.get(join.index()).map_or_else(
            || format!("join {}", join.index()),
            |join| format!("({})", join.name),
        ),
    };
    match &edge.via {
        Via::Plain => from,
        Via::Each => format!("{from} [each]"),
        Via::Route(route) => format!("{from} [{route}]"),
        Via::RouteEach(route) => format!("{from} [{route} each]"),
        Via::Catch => format!("{from} [catch]"),
    }
}

fn target(nodes: &[NodeOutline], target: Target) -> String {
    match target {
        Target::End => "END".into(),
        Target::Node(node) => quoted(&nodes[node.index()].name).into_owned(),
        Target::Join(_) => "join".into(),
    }
}

/// The name of a type without module paths, so that a type may be moved.
pub fn unqualified(ty: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    for c in ty.chars() {
        text.push(c);
        if text.ends_with("::") && text.len() > word + 2 {
            text.truncate(word);
        } else if !c.is_alphanumeric() && c != '_' && c != ':' {
            word = text.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unqualified;

    #[test]
    fn module_paths_are_removed_from_type_names() {
        for (full, short) in [
            ("u8", "u8"),
            ("alloc::string::String", "String"),
            ("(a::B, c_d::e::F<g::H>)", "(B, F<H>)"),
            ("&[alloc::vec::Vec<u8>]", "&[Vec<u8>]"),
        ] {
            assert_eq!(unqualified(full), short);
        }
    }
}
