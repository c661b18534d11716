//! The edges of a graph in the orders of constants.

use std::collections::BTreeMap;

use crate::components::postorder;
use crate::edges::batches;
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::{NodeIdx, to_u32};
use crate::skips::merges;
use crate::tables::{PathEdge, PathsRef, kind};

/// An owned [`PathsRef`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// See [`PathsRef::nodes`].
    pub nodes: u32,
    /// See [`PathsRef::joins`].
    pub joins: u32,
    /// See [`PathsRef::forward`].
    pub forward: Vec<PathEdge>,
    /// See [`PathsRef::backward`].
    pub backward: Vec<PathEdge>,
}

impl Paths {
    /// The edges of a graph.
    pub fn of(graph: &Graph) -> Self {
        let (nodes, joins) = (to_u32(graph.nodes.len()), graph.joins);
        let (start, end) = (nodes + joins, nodes + joins + 1);
        let from = |source: Source| to_u32(graph.vertex(source));
        let merges = merges(graph);
        let to = |target: Target| match target {
            Target::Node(node) => node.as_u32(),
            // A merge runs after any of its sides, so its join does not collect what they write.
            Target::Join(join) => {
                merges[join.index()].map_or(nodes + join.as_u32(), NodeIdx::as_u32)
            }
            Target::End => end,
        };
        let is_merged =
            |source| matches!(source, Source::Join(join) if merges[join.index()].is_some());
        let mut next = vec![Vec::new(); end as usize + 1];
        for edge in graph.edges().iter().filter(|edge| !is_merged(edge.from)) {
            next[from(edge.from) as usize].push(to(edge.to) as usize);
        }
        let leads_nowhere = |node: &NodeIdx| next[node.index()].is_empty();
        let ends = graph.node_indices().filter(leads_nowhere).map(|node| Edge {
            from: Source::Node(node),
            via: Via::Plain,
            to: Target::End,
        });
        let ends: Vec<Edge> = ends.collect();
        let order = postorder(&next, start as usize);
        // Vertices that START does not reach come last. Nothing is reported about them.
        let mut rank = vec![u32::MAX; next.len()];
        for (position, vertex) in order.iter().enumerate() {
            rank[*vertex] = to_u32(order.len() - 1 - position);
        }
        let mut groups = BTreeMap::new();
        let batches = batches(graph);
        let mut forward: Vec<PathEdge> = Vec::with_capacity(graph.edges.len());
        for edge in graph.edges().iter().chain(&ends) {
            if is_merged(edge.from) {
                continue;
            }
            let (from, to) = (from(edge.from), to(edge.to));
            let mut group = 0;
            if let Some(name) = edge.via.route() {
                let new = to_u32(groups.len());
                group = *groups.entry((from, name)).or_insert(new);
            }
            let mut kind = kind_of(&edge.via);
            if batches.get(from as usize) == Some(&true) {
                kind |= kind::FROM_BATCH;
            }
            if is_late(graph, edge) {
                kind |= kind::LATE;
            }
            if rank[to as usize] <= rank[from as usize] {
                kind |= kind::BACK;
            }
            if rank[from as usize] != u32::MAX {
                forward.push(PathEdge::new(from, to, kind, group));
            }
        }
        let mut backward = forward.clone();
        forward.sort_by_key(|edge| (rank[edge.to as usize], edge.from));
        backward.sort_by_key(|edge| {
            let kind = edge.kind & kind::WITHOUT_FLAGS;
            (u32::MAX - rank[edge.from as usize], kind, edge.route)
        });
        Paths {
            nodes,
            joins,
            forward,
            backward,
        }
    }

    /// The form that constant evaluation reads.
    pub fn view(&self) -> PathsRef<'_> {
        PathsRef {
            nodes: self.nodes,
            joins: self.joins,
            forward: &self.forward,
            backward: &self.backward,
        }
    }
}

/// The kind of an edge, without flags.
fn kind_of(via: &Via) -> u8 {
    match via {
        Via::Plain => kind::PLAIN,
        Via::Each => kind::EACH,
        Via::Route(_) => kind::ROUTE,
        Via::RouteEach(_) => kind::ROUTE_EACH,
        Via::Catch => kind::CATCH,
    }
}

/// See [`kind::LATE`].
fn is_late(graph: &Graph, edge: &Edge) -> bool {
    match edge.to {
        Target::Node(node) => {
            graph.nodes[node.index()].deferred || matches!(edge.from, Source::Join(_))
        }
        Target::Join(_) => true,
        Target::End => false,
    }
}
