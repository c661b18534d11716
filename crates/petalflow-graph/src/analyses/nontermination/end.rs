//! The nodes from which END can be reached.

use std::collections::BTreeSet;

use crate::analyses::Reach;
use crate::edges::{EdgesBySource, EdgesByTarget, choose};
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};

/// The number of routes that a node may pick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picks {
    /// Exactly one, unless the graph says otherwise.
    Declared,
    /// Any number, including none, which can end its path.
    Any,
}

/// For each reachable node from which END cannot be reached, its successors; for every other node an empty list.
pub(super) fn without_end(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    reach: &Reach,
    picks: Picks,
) -> Vec<Vec<usize>> {
    let ends = reaches_end(graph, edges, picks);
    let mut next = vec![Vec::new(); graph.nodes.len()];
    for node in graph.node_indices() {
        if reach.nodes[node.index()] && !ends[node.index()] {
            next[node.index()] = successors(edges, node);
        }
    }
    next
}

/// Whether a path leads to END, by [`Graph::vertex`].
fn reaches_end(graph: &Graph, edges: &EdgesBySource<'_>, picks: Picks) -> Vec<bool> {
    let into = EdgesByTarget::of(graph);
    let nodes = graph.node_indices();
    let nodes = nodes.filter(|&node| may_activate_nothing(graph, edges, node, picks));
    let joins = JoinIdx::all(edges.joins.len());
    let joins = joins.filter(|join| edges.joins[join.index()].is_empty());
    let before_end = graph.edges.iter().filter(|edge| edge.to == Target::End);
    let mut queue: Vec<Source> = (nodes.map(Source::Node))
        .chain(joins.map(Source::Join))
        .chain(before_end.map(|edge| edge.from))
        .collect();
    let mut ends = vec![false; graph.vertices()];
    while let Some(source) = queue.pop() {
        if !std::mem::replace(&mut ends[graph.vertex(source)], true) {
            queue.extend(into.to(source).iter().map(|edge| edge.from));
        }
    }
    ends
}

/// Whether a run of the node can end its path without an edge to END: it has no edge, picks no route, or sends an empty list
/// to a node after which nothing follows.
fn may_activate_nothing(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    node: NodeIdx,
    picks: Picks,
) -> bool {
    let many = picks == Picks::Any || graph.node(node).many;
    let out = &edges.nodes[node.index()];
    let is_plain = |edge: &&Edge| edge.via == Via::Plain;
    let may_send_nothing = |edge: &&Edge| {
        edge.via.is_each()
            && (edge.to.node()).is_some_and(|to| !edges.nodes[to.index()].iter().any(is_plain))
    };
    many && choose(out)
        || out.iter().all(|edge| edge.via == Via::Catch)
        || out.iter().any(may_send_nothing)
}

/// The nodes that a node leads to, also through joins.
pub(crate) fn successors(edges: &EdgesBySource<'_>, node: NodeIdx) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut seen = BTreeSet::new();
    let mut queue = vec![Source::Node(node)];
    while let Some(source) = queue.pop() {
        for edge in edges.from(source) {
            match edge.to {
                Target::Node(to) => nodes.push(to.index()),
                Target::Join(join) if seen.insert(join) => queue.push(Source::Join(join)),
                Target::Join(_) | Target::End => {}
            }
        }
    }
    nodes
}
