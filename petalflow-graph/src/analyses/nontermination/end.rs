//! The nodes from which END can be reached.

use crate::analyses::Reach;
use crate::edges::{EdgesBySource, choose};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::sorted::{SortedMap, SortedSet};

/// The number of routes that a node may pick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picks {
    /// Exactly one, unless the graph says otherwise.
    Declared,
    /// Any number, including none, which can end its path.
    Any,
}

/// For each reachable node from which END cannot be reached, its successors; for every other node an empty list.
#[inline]
pub(super) fn without_end(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    reach: &Reach,
    picks: Picks,
) -> Vec<Vec<usize>> {
    let ends = reaches_end(graph, edges, picks);
    graph
        .node_indices()
        .map(|node| {
            if reach.nodes[node.index()] && !ends.contains(&Source::Node(node)) {
                successors(edges, node)
            } else {
                Vec::new()
            }
        })
        .collect()
}

#[inline]
fn reaches_end(graph: &Graph, edges: &EdgesBySource<'_>, picks: Picks) -> SortedSet<Source> {
    let mut into: SortedMap<Source, Vec<Source>> = SortedMap::new();
    let nodes = graph
        .node_indices()
        .filter(|&node| may_activate_nothing(graph, edges, node, picks));
    let mut queue: Vec<Source> = nodes.map(Source::Node).collect();
    queue.extend(
        JoinIdx::all(edges.joins.len())
            .filter(|join| edges.joins[join.index()].is_empty())
            .map(Source::Join),
    );
    for edge in &*graph.edges {
        match edge.to {
            Target::Node(node) => into
                .get_or(Source::Node(node), Default::default)
                .push(edge.from),
            Target::Join(join) => into
                .get_or(Source::Join(join), Default::default)
                .push(edge.from),
            Target::End => queue.push(edge.from),
        }
    }
    let mut ends = SortedSet::new();
    while let Some(source) = queue.pop() {
        if ends.insert(source) {
            queue.extend_from_slice(into.get(&source).map_or(&[], Vec::as_slice));
        }
    }
    ends
}

/// Whether a run of the node can end its path without an edge to END: it has no edge, picks no route, or sends an empty list
/// to a node after which nothing follows.
#[inline]
fn may_activate_nothing(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    node: NodeIdx,
    picks: Picks,
) -> bool {
    let many = picks == Picks::Any || graph.node(node).many;
    let out = &edges.nodes[node.index()];
    let picks_none = many && choose(out);
    let empty = out.iter().any(|edge| match edge.to {
        Target::Node(to) if edge.via.is_each() => edges.nodes[to.index()]
            .iter()
            .all(|edge| edge.via != Via::Plain),
        _ => false,
    });
    picks_none || empty || out.iter().all(|edge| edge.via == Via::Catch)
}

/// The nodes that a node leads to, also through joins.
#[inline]
pub(crate) fn successors(edges: &EdgesBySource<'_>, node: NodeIdx) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut seen = SortedSet::new();
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
