//! The branches of a graph: the nodes between a fork and the merge after it.

use std::collections::HashSet;

use super::graph::EnvelopeGraph;
use crate::NodeKind;
use crate::kinds::EnvelopeNode;

/// The branches that a node is in, or that it merges.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    /// Whether its changes stay in its branch until a merge applies them.
    pub(super) is_in_branch: bool,
    /// The nodes in branches before it.
    pub(super) from: Vec<usize>,
    /// The fork of its branch, if the fork is in a branch itself.
    pub(super) fork: Option<usize>,
    /// `Some` for a merge: its sides, and the nodes of the branches that end in it.
    pub(super) merged: Option<Merged>,
}

/// The branches that a merge ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub(super) sides: Vec<usize>,
    pub(super) nodes: Vec<usize>,
}

/// The regions of all nodes that the entry reaches.
///
/// A branch is a path from the fork to the merge. The fork is the last node that all paths from the entry to the merge have
/// in common: its immediate dominator.
pub(super) fn regions(graph: &EnvelopeGraph, entry: usize) -> Vec<Region> {
    let mut regions = vec![Region::default(); graph.nodes.len()];
    let order = reverse_postorder(graph, entry);
    let mut is_reached = vec![false; graph.nodes.len()];
    order.iter().for_each(|node| is_reached[*node] = true);
    let sides_of = |merge: usize| -> Vec<usize> {
        let previous = graph.nodes[merge].previous.iter().copied();
        previous.filter(|node| is_reached[*node]).collect()
    };
    let is_merge = |node: &usize| {
        graph.nodes[*node].node.kind() == NodeKind::Merge && sides_of(*node).len() > 1
    };
    if !order.iter().any(is_merge) {
        return regions;
    }
    let forks = dominators(graph, &order);
    for merge in order.iter().copied().filter(|node| is_merge(node)) {
        let Some(fork) = forks[merge] else { continue };
        let nodes = between(graph, fork, merge);
        nodes
            .iter()
            .for_each(|node| regions[*node].is_in_branch = true);
        let sides = sides_of(merge);
        regions[merge].merged = Some(Merged { sides, nodes });
    }
    let in_branch: Vec<bool> = regions.iter().map(|region| region.is_in_branch).collect();
    for node in order {
        let previous = graph.nodes[node].previous.iter().copied();
        regions[node].from = previous.filter(|node| in_branch[*node]).collect();
        regions[node].fork = forks[node].filter(|fork| in_branch[*fork]);
    }
    regions
}

fn reverse_postorder(graph: &EnvelopeGraph, entry: usize) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::new(), vec![false; graph.nodes.len()]);
    seen[entry] = true;
    let mut stack = vec![(entry, graph.targets(entry).into_iter())];
    while let Some((node, targets)) = stack.last_mut() {
        match targets.next() {
            Some(to) if !seen[to] => {
                seen[to] = true;
                stack.push((to, graph.targets(to).into_iter()));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The immediate dominator of each node in this order, after Cooper, Harvey and Kennedy.
fn dominators(graph: &EnvelopeGraph, order: &[usize]) -> Vec<Option<usize>> {
    let mut rank = vec![usize::MAX; graph.nodes.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(at, node)| rank[*node] = at);
    let mut idom: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let Some((&entry, rest)) = order.split_first() else {
        return idom;
    };
    idom[entry] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in rest {
            let mut common: Option<usize> = None;
            for &from in &graph.nodes[node].previous {
                if idom[from].is_none() {
                    continue;
                }
                common = Some(
                    common.map_or(from, |common| common_dominator(&idom, &rank, common, from)),
                );
            }
            if idom[node] != common {
                idom[node] = common;
                changed = true;
            }
        }
    }
    idom[entry] = None;
    idom
}

fn common_dominator(idom: &[Option<usize>], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if rank[a] > rank[b] { &mut a } else { &mut b };
        match idom[*lower] {
            Some(next) => *lower = next,
            None => return *lower,
        }
    }
    a
}

/// The nodes on paths from the fork to the merge. The time is that of these paths and not of the whole graph.
fn between(graph: &EnvelopeGraph, fork: usize, merge: usize) -> Vec<usize> {
    // All paths to the merge go through the fork, so the way back ends there.
    let mut before = HashSet::new();
    let mut stack = graph.nodes[merge].previous.clone();
    while let Some(node) = stack.pop() {
        if node != fork && node != merge && before.insert(node) {
            stack.extend(&graph.nodes[node].previous);
        }
    }
    let mut nodes = Vec::with_capacity(before.len());
    let mut stack = graph.targets(fork);
    while let Some(node) = stack.pop() {
        if before.remove(&node) {
            nodes.push(node);
            stack.extend(graph.targets(node));
        }
    }
    nodes.sort_unstable();
    nodes
}
