//! The edges of a graph by their source and by their target, and functions on them.

use std::collections::BTreeMap;

use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::NodeIdx;

impl Edge {
    /// Whether it sends a list to a node: one run of that node per item.
    pub(crate) const fn sends_list(&self) -> bool {
        self.via.is_each() && matches!(self.to, Target::Node(_))
    }
}

/// The edges by their source.
pub(crate) struct EdgesBySource<'a> {
    pub(crate) start: Vec<&'a Edge>,
    pub(crate) nodes: Vec<Vec<&'a Edge>>,
    pub(crate) joins: Vec<Vec<&'a Edge>>,
}

impl<'a> EdgesBySource<'a> {
    pub(crate) fn of(graph: &'a Graph) -> Self {
        let mut edges = EdgesBySource {
            start: Vec::new(),
            nodes: vec![Vec::new(); graph.nodes.len()],
            joins: vec![Vec::new(); graph.joins as usize],
        };
        for edge in &*graph.edges {
            match edge.from {
                Source::Start => edges.start.push(edge),
                Source::Node(node) => edges.nodes[node.index()].push(edge),
                Source::Join(join) => edges.joins[join.index()].push(edge),
            }
        }
        edges
    }

    pub(crate) fn from(&self, source: Source) -> &[&'a Edge] {
        match source {
            Source::Start => &self.start,
            Source::Node(node) => &self.nodes[node.index()],
            Source::Join(join) => &self.joins[join.index()],
        }
    }
}

/// The edges by their target.
pub(crate) struct EdgesByTarget<'a> {
    pub(crate) nodes: Vec<Vec<&'a Edge>>,
    pub(crate) joins: Vec<Vec<&'a Edge>>,
}

impl<'a> EdgesByTarget<'a> {
    pub(crate) fn of(graph: &'a Graph) -> Self {
        let mut edges = EdgesByTarget {
            nodes: vec![Vec::new(); graph.nodes.len()],
            joins: vec![Vec::new(); graph.joins as usize],
        };
        for edge in &*graph.edges {
            match edge.to {
                Target::Node(node) => edges.nodes[node.index()].push(edge),
                Target::Join(join) => edges.joins[join.index()].push(edge),
                Target::End => {}
            }
        }
        edges
    }

    /// The edges to this node or join.
    pub(crate) fn to(&self, target: Source) -> &[&'a Edge] {
        match target {
            Source::Start => &[],
            Source::Node(node) => &self.nodes[node.index()],
            Source::Join(join) => &self.joins[join.index()],
        }
    }
}

/// The edges of each route among these, in the order in which the routes first appear.
pub(crate) fn routes<'a>(edges: &[&'a Edge]) -> Vec<Vec<&'a Edge>> {
    let mut routes: Vec<Vec<&Edge>> = Vec::new();
    let mut by_name = BTreeMap::new();
    for &edge in edges {
        if let Some(name) = edge.via.route() {
            let at = *by_name.entry(name).or_insert(routes.len());
            if at == routes.len() {
                routes.push(Vec::new());
            }
            routes[at].push(edge);
        }
    }
    routes
}

/// The plain edges and `each` edges among these: they fire together whenever their source has run.
pub(crate) fn unconditional<'a>(edges: &[&'a Edge]) -> Vec<&'a Edge> {
    let is_fixed = |edge: &&Edge| matches!(edge.via, Via::Plain | Via::Each);
    edges.iter().copied().filter(is_fixed).collect()
}

/// The edges among these that fire if their source fails.
pub(crate) fn caught<'a>(edges: &[&'a Edge]) -> Vec<&'a Edge> {
    let is_caught = |edge: &&Edge| edge.via == Via::Catch;
    edges.iter().copied().filter(is_caught).collect()
}

/// For each node whether it runs once per item of a list.
pub(crate) fn batches(graph: &Graph) -> Vec<bool> {
    let mut batches = vec![false; graph.nodes.len()];
    for edge in graph.edges() {
        if let (true, Target::Node(node)) = (edge.via.is_each(), edge.to) {
            batches[node.index()] = true;
        }
    }
    batches
}

/// Whether the source of these edges chooses a route: one of them fires only if its route is chosen.
pub(crate) fn choose(edges: &[&Edge]) -> bool {
    edges.iter().any(|edge| edge.via.route().is_some())
}

/// Whether one of these edges fires if the source fails.
pub(crate) fn catch(edges: &[&Edge]) -> bool {
    edges.iter().any(|edge| edge.via == Via::Catch)
}

/// Whether all of these edges lead to END.
pub(crate) fn only_end(edges: &[&Edge]) -> bool {
    edges.iter().all(|edge| edge.to == Target::End)
}

/// The first node among these sources.
pub(crate) fn first_node(sources: &[Source]) -> Option<NodeIdx> {
    sources.iter().find_map(|source| match *source {
        Source::Node(node) => Some(node),
        _ => None,
    })
}
