//! The input of the rules.

use super::names;
use crate::analyses::{Exploration, Reach};
use crate::edges::EdgesBySource;
use crate::graph::{Graph, Source};
use crate::idx::NodeIdx;
use crate::similar::similar;

/// The input of the rules.
pub(super) struct Cx<'a> {
    pub(super) graph: &'a Graph,
    pub(super) edges: EdgesBySource<'a>,
    pub(super) exploration: &'a Exploration,
    pub(super) reach: Reach,
}

impl<'a> Cx<'a> {
    #[inline]
    pub(super) fn of(graph: &'a Graph, exploration: &'a Exploration) -> Self {
        Cx {
            graph,
            edges: EdgesBySource::of(graph),
            exploration,
            reach: Reach::of(graph),
        }
    }

    #[inline]
    pub(super) fn name(&self, node: NodeIdx) -> &str {
        &self.graph.node(node).name
    }

    #[inline]
    pub(super) fn source(&self, source: Source) -> String {
        names::source(self.graph, source)
    }

    /// Whether the node has no edge at all.
    #[inline]
    pub(super) fn is_unused(&self, node: NodeIdx) -> bool {
        self.reach.is_unused(&self.edges, node)
    }

    /// The name of another node that fits, if a typing mistake can have made two nodes of one. Short names are similar by chance.
    #[inline]
    pub(super) fn similar(&self, node: NodeIdx, fits: impl Fn(NodeIdx) -> bool) -> Option<&str> {
        let others = self
            .graph
            .node_indices()
            .filter(|other| *other != node && fits(*other));
        let names = others.map(|other| self.name(other));
        let long = |name: &str| name.len() > 3;
        similar(self.name(node), names.filter(|name| long(name))).filter(|_| long(self.name(node)))
    }

    /// The names along a cycle, as `a -> b -> a`. Joins are left out.
    #[inline]
    pub(super) fn show_cycle(&self, cycle: &[usize]) -> String {
        let nodes = cycle
            .iter()
            .chain(cycle.first())
            .filter_map(|&vertex| self.graph.nodes.get(vertex));
        nodes
            .map(|node| &*node.name)
            .collect::<Vec<_>>()
            .join(" -> ")
    }
}
