//! Reachability from START over the edges.

use std::collections::BTreeSet;

use crate::edges::EdgesBySource;
use crate::graph::{Graph, Source, Target};
use crate::idx::NodeIdx;
use crate::skips::merges;

/// The nodes and joins that START can reach. A join is reachable if all of its sides are; that of a merge, if one is.
pub(crate) struct Reach {
    pub(crate) nodes: Vec<bool>,
    pub(crate) joins: Vec<bool>,
    /// The sources of the edges to each node.
    pub(crate) into_node: Vec<Vec<Source>>,
    /// The sides of each join, ascending.
    pub(crate) into_join: Vec<Vec<Source>>,
}

impl Reach {
    pub(crate) fn of(graph: &Graph) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut reach = Reach {
            nodes: vec![false; graph.nodes.len()],
            joins: vec![false; graph.joins as usize],
            into_node: vec![Vec::new(); graph.nodes.len()],
            into_join: vec![Vec::new(); graph.joins as usize],
        };
        for edge in graph.edges() {
            match edge.to {
                Target::Node(node) => reach.into_node[node.index()].push(edge.from),
                Target::Join(join) => reach.into_join[join.index()].push(edge.from),
                Target::End => {}
            }
        }
        for sides in &mut reach.into_join {
            sides.sort_unstable();
            sides.dedup();
        }
        let merges = merges(graph);
        let mut arrived = vec![BTreeSet::new(); graph.joins as usize];
        let mut queue = vec![Source::Start];
        while let Some(source) = queue.pop() {
            for edge in edges.from(source) {
                match edge.to {
                    Target::Node(node) => {
                        if !std::mem::replace(&mut reach.nodes[node.index()], true) {
                            queue.push(Source::Node(node));
                        }
                    }
                    Target::Join(join) => {
                        let arrived = &mut arrived[join.index()];
                        let sides = reach.into_join[join.index()].len();
                        if arrived.insert(source)
                            && (arrived.len() == sides || merges[join.index()].is_some())
                            && !reach.joins[join.index()]
                        {
                            reach.joins[join.index()] = true;
                            queue.push(Source::Join(join));
                        }
                    }
                    Target::End => {}
                }
            }
        }
        reach
    }

    pub(crate) fn reaches(&self, source: Source) -> bool {
        match source {
            Source::Start => true,
            Source::Node(node) => self.nodes[node.index()],
            Source::Join(join) => self.joins[join.index()],
        }
    }

    /// The sources of the edges to this node or join.
    pub(crate) fn predecessors(&self, source: Source) -> &[Source] {
        match source {
            Source::Start => &[],
            Source::Node(node) => &self.into_node[node.index()],
            Source::Join(join) => &self.into_join[join.index()],
        }
    }

    /// Whether no edge at all leads to the node or from it.
    pub(crate) fn is_unused(&self, edges: &EdgesBySource<'_>, node: NodeIdx) -> bool {
        edges.nodes[node.index()].is_empty() && self.into_node[node.index()].is_empty()
    }
}
