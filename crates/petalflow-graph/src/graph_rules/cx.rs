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
    pub(super) fn of(graph: &'a Graph, exploration: &'a Exploration) -> Self {
        Cx {
            graph,
            edges: EdgesBySource::of(graph),
            exploration,
            reach: Reach::of(graph),
        }
    }

    pub(super) fn name(&self, node: NodeIdx) -> &str {
        &self.graph.node(node).name
    }

    pub(super) fn source(&self, source: Source) -> String {
        names::source(self.graph, source)
    }

    /// Whether the node has no edge at all.
    pub(super) fn is_unused(&self, node: NodeIdx) -> bool {
        self.reach.is_unused(&self.edges, node)
    }

    /// The name of another node that fits, if a typing mistake can have made two nodes of one. Short names are similar by chance.
    pub(super) fn similar(&self, node: NodeIdx, fits: &dyn Fn(NodeIdx) -> bool) -> Option<&str> {
        let long = |name: &str| name.len() > 3;
        if !long(self.name(node)) {
            return None;
        }
        let others = self.graph.node_indices();
        let others = others.filter(|&other| other != node && long(self.name(other)) && fits(other));
        similar(self.name(node), others.map(|other| self.name(other)))
    }

    /// The names along a cycle, as `a -> b -> a`. Joins are left out.
    pub(super) fn show_cycle(&self, cycle: &[usize]) -> String {
        let closed = cycle.iter().chain(&cycle[..1]);
        let names = closed.filter_map(|&vertex| Some(&*self.graph.nodes.get(vertex)?.name));
        names.collect::<Vec<_>>().join(" -> ")
    }
}
