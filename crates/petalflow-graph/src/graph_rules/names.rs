//! The names of sources and targets in messages.

use std::collections::HashSet;

use crate::graph::{Graph, Source, Target};
use crate::idx::JoinIdx;

/// The name of the source of an edge. A join is named by its sides.
pub(super) fn source(graph: &Graph, source: Source) -> String {
    match source {
        Source::Start => "START".into(),
        Source::Node(node) => graph.nodes[node.index()].name.to_string(),
        Source::Join(number) => join(graph, number),
    }
}

/// The name of the target of an edge.
pub(super) fn target(graph: &Graph, target: Target) -> String {
    match target {
        Target::Node(node) => graph.nodes[node.index()].name.to_string(),
        Target::Join(number) => join(graph, number),
        Target::End => "END".into(),
    }
}

/// A join as the user writes it: `a & b`.
pub(super) fn join(graph: &Graph, number: JoinIdx) -> String {
    join_name(graph, number, &mut Vec::new())
}

fn join_name(graph: &Graph, number: JoinIdx, within: &mut Vec<JoinIdx>) -> String {
    if within.contains(&number) {
        return "..".into();
    }
    within.push(number);
    let mut sides: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for edge in graph.sides(number) {
        let side = match edge.from {
            Source::Join(inner) => join_name(graph, inner, within),
            from => source(graph, from),
        };
        if known.insert(side.clone()) {
            sides.push(side);
        }
    }
    within.pop();
    sides.join(" & ")
}
