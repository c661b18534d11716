//! PF009: every node can run.

use super::shape::is_unused;
use super::{Cx, cycles, names};
use crate::edges::EdgesBySource;
use crate::graph::{Graph, Source, Target};
use crate::idx::{JoinIdx, NodeIdx};
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::sorted::SortedSet;

/// What START can reach; a join is reached when all its sides are.
pub(super) struct Reach {
    pub(super) nodes: Vec<bool>,
    pub(super) joins: Vec<bool>,
    /// Where the edges to each node begin.
    pub(super) into_node: Vec<Vec<Source>>,
    /// The sides of each join.
    pub(super) into_join: Vec<SortedSet<Source>>,
}

impl Reach {
    #[inline]
    pub(super) fn of(graph: &Graph) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut reach = Reach {
            nodes: vec![false; graph.nodes.len()],
            joins: vec![false; graph.joins as usize],
            into_node: vec![Vec::new(); graph.nodes.len()],
            into_join: vec![SortedSet::new(); graph.joins as usize],
        };
        for edge in &*graph.edges {
            match edge.to {
                Target::Node(node) => reach.into_node[node.index()].push(edge.from),
                Target::Join(join) => drop(reach.into_join[join.index()].insert(edge.from)),
                Target::End => {}
            }
        }
        let mut arrived = vec![SortedSet::new(); graph.joins as usize];
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
                        if arrived.insert(source)
                            && arrived.len() == reach.into_join[join.index()].len()
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

    #[inline]
    pub(super) fn reaches(&self, source: Source) -> bool {
        match source {
            Source::Start => true,
            Source::Node(node) => self.nodes[node.index()],
            Source::Join(join) => self.joins[join.index()],
        }
    }

    #[inline]
    pub(super) fn before(&self, source: Source) -> Vec<Source> {
        match source {
            Source::Start => Vec::new(),
            Source::Node(node) => self.into_node[node.index()].clone(),
            Source::Join(join) => self.into_join[join.index()].iter().copied().collect(),
        }
    }
}

/// PF009: one problem per root, that is a node (or a cycle) that is unreachable for no other unreachable node's sake.
#[inline]
pub(super) fn nodes_are_reachable(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let nodes = cx.graph.nodes.len();
    let vertex = |source: Source| match source {
        Source::Node(node) => node.index(),
        Source::Join(join) => nodes + join.index(),
        Source::Start => unreachable!("START is reached"),
    };
    let sources: Vec<Source> = cx
        .graph
        .node_indices()
        .map(Source::Node)
        .chain(JoinIdx::all(cx.graph.joins as usize).map(Source::Join))
        .collect();
    // An edge from each unreachable place to what it waits for; the roots are the components that wait for nothing else.
    let mut waits = vec![Vec::new(); sources.len()];
    for &source in sources.iter().filter(|&&source| !cx.reach.reaches(source)) {
        let missing = cx
            .reach
            .before(source)
            .into_iter()
            .filter(|&from| !cx.reach.reaches(from));
        waits[vertex(source)] = missing.map(vertex).collect();
    }
    for root in cycles::sinks(&waits) {
        let members: Vec<Source> = root.iter().map(|&vertex| sources[vertex]).collect();
        let Some(first) = members.iter().find_map(|&source| {
            if let Source::Node(node) = source {
                Some(node)
            } else {
                None
            }
        }) else {
            continue;
        };
        if cx.reach.reaches(Source::Node(first)) || is_unused(cx, first) {
            continue;
        }
        problems.push(unreachable(cx, first, &members, &root, &waits));
    }
}

#[inline]
fn unreachable(
    cx: &Cx<'_>,
    first: NodeIdx,
    members: &[Source],
    root: &[usize],
    waits: &[Vec<usize>],
) -> Problem {
    let waiting = members.iter().find_map(|&source| {
        if let Source::Join(join) = source {
            Some(join)
        } else {
            None
        }
    });
    if let Some(join) = waiting {
        let never = cx.reach.into_join[join.index()]
            .iter()
            .find(|side| !cx.reach.reaches(**side) && members.contains(side));
        let to = cx.edges.joins[join.index()].iter().find_map(|edge| {
            if let Target::Node(node) = edge.to {
                Some(node)
            } else {
                None
            }
        });
        if let (Some(&never), Some(node)) = (never, to) {
            let join = names::join(cx.graph, join);
            let (name, never) = (cx.name(node), cx.source(never));
            let text = format!(
                "node `{name}` is unreachable: the join `{join}` waits for `{never}`, which itself can only run after the join; take `{never}` out of the join, or lead another edge to it"
            );
            return Problem::new(Rule::UnreachableNode, Site::Node(node), text);
        }
    }
    let name = cx.name(first);
    let text = if cx.reach.into_node[first.index()].is_empty() {
        format!(
            "node `{name}` is unreachable: no edge leads to it; add an edge, such as `START -> {name}`, or remove the node"
        )
    } else {
        let cycle = cycles::show(cx, &cycles::cycle_through(root, waits, first.index(), true));
        format!(
            "node `{name}` is unreachable: it can only run after itself (`{cycle}`); add an edge into the cycle, such as `START -> {name}`"
        )
    };
    Problem::new(Rule::UnreachableNode, Site::Node(first), text)
}
