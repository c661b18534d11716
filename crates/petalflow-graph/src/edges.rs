//! The edges of a graph by their source and by their target, and functions on them.

use crate::collections::SortedMap;
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::NodeIdx;
use crate::lists::lists;

impl Target {
    /// The source of the edges that follow, unless the path ends.
    pub(crate) const fn source(self) -> Option<Source> {
        match self {
            Target::Node(node) => Some(Source::Node(node)),
            Target::Join(join) => Some(Source::Join(join)),
            Target::End => None,
        }
    }
}

impl Edge {
    /// Whether it sends a list to a node: one run of that node per item.
    pub(crate) const fn sends_list(&self) -> bool {
        self.via.is_each() && matches!(self.to, Target::Node(_))
    }
}

impl Graph {
    /// The number of a source: first the nodes, then the joins, then START.
    pub(crate) fn vertex(&self, source: Source) -> usize {
        match source {
            Source::Node(node) => node.index(),
            Source::Join(join) => self.nodes.len() + join.index(),
            Source::Start => self.nodes.len() + self.joins as usize,
        }
    }

    /// For each [`vertex`](Self::vertex) `false`.
    pub(crate) fn no_vertices(&self) -> Vec<bool> {
        vec![false; self.nodes.len() + self.joins as usize + 1]
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
            nodes: lists(graph.nodes.len()),
            joins: lists(graph.joins as usize),
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
            nodes: lists(graph.nodes.len()),
            joins: lists(graph.joins as usize),
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

/// The routes among these edges: the edges of each name, in the order the names first appear.
pub(crate) fn routes<'a>(edges: &[&'a Edge]) -> Vec<(&'a str, Vec<&'a Edge>)> {
    let mut routes: Vec<(&str, Vec<&Edge>)> = Vec::new();
    let mut by_name = SortedMap::new();
    for edge in edges {
        if let Some(name) = edge.via.route() {
            let at = *by_name.get_or_insert(name, routes.len());
            if at == routes.len() {
                routes.push((name, Vec::new()));
            }
            routes[at].1.push(edge);
        }
    }
    routes
}

/// For each node whether it runs once per item of a list.
pub(crate) fn batches(graph: &Graph) -> Vec<bool> {
    let mut batches = vec![false; graph.nodes.len()];
    for edge in &*graph.edges {
        if let (true, Target::Node(node)) = (edge.via.is_each(), edge.to) {
            batches[node.index()] = true;
        }
    }
    batches
}

/// Whether the source of these edges chooses a route: one of them fires only if its route is chosen.
pub(crate) fn choose(edges: &[&Edge]) -> bool {
    for edge in edges {
        if edge.via.route().is_some() {
            return true;
        }
    }
    false
}

/// Whether one of these edges fires if the source fails.
pub(crate) fn catch(edges: &[&Edge]) -> bool {
    for edge in edges {
        if edge.via == Via::Catch {
            return true;
        }
    }
    false
}

/// Whether all of these edges lead to END.
pub(crate) fn only_end(edges: &[&Edge]) -> bool {
    for edge in edges {
        if edge.to != Target::End {
            return false;
        }
    }
    true
}

/// The first node among these sources.
pub(crate) fn first_node(sources: &[Source]) -> Option<NodeIdx> {
    for source in sources {
        if let Source::Node(node) = *source {
            return Some(node);
        }
    }
    None
}
