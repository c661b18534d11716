//! The nodes from which END can be reached.

use crate::analyses::Reach;
use crate::edges::{EdgesBySource, EdgesByTarget, choose};
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::lists::lists;
use crate::sorted::insert;

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
    let mut next = lists(graph.nodes.len());
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
    let mut queue = Vec::new();
    for node in graph.node_indices() {
        if may_activate_nothing(graph, edges, node, picks) {
            queue.push(Source::Node(node));
        }
    }
    for join in JoinIdx::all(edges.joins.len()) {
        if edges.joins[join.index()].is_empty() {
            queue.push(Source::Join(join));
        }
    }
    for edge in &*graph.edges {
        if edge.to == Target::End {
            queue.push(edge.from);
        }
    }
    let mut ends = graph.no_vertices();
    while let Some(source) = queue.pop() {
        if !std::mem::replace(&mut ends[graph.vertex(source)], true) {
            for edge in into.to(source) {
                queue.push(edge.from);
            }
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
    let mut may_end = many && choose(out);
    let mut only_catch = true;
    for edge in out {
        only_catch &= edge.via == Via::Catch;
        if let (true, Target::Node(to)) = (edge.via.is_each(), edge.to) {
            may_end |= !plain(&edges.nodes[to.index()]);
        }
    }
    may_end || only_catch
}

/// Whether one of these edges is plain.
fn plain(edges: &[&Edge]) -> bool {
    for edge in edges {
        if edge.via == Via::Plain {
            return true;
        }
    }
    false
}

/// The nodes that a node leads to, also through joins.
pub(crate) fn successors(edges: &EdgesBySource<'_>, node: NodeIdx) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut seen = Vec::new();
    let mut queue = vec![Source::Node(node)];
    while let Some(source) = queue.pop() {
        for edge in edges.from(source) {
            match edge.to {
                Target::Node(to) => nodes.push(to.index()),
                Target::Join(join) if insert(&mut seen, join) => queue.push(Source::Join(join)),
                Target::Join(_) | Target::End => {}
            }
        }
    }
    nodes
}
