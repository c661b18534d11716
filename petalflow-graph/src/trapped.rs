//! States of a run from which it cannot end.

use crate::graph::{Graph, Source, Via};
use crate::idx::NodeIdx;
use crate::rules::sinks;
use crate::sorted::SortedSet;
use crate::walk::Walk;

/// The nodes of each set of states that a run never leaves, where that does not depend on what the nodes choose.
#[inline]
pub(crate) fn sets(graph: &Graph, walk: &Walk) -> Vec<Vec<NodeIdx>> {
    let ends = can_end(walk);
    if ends.iter().all(|&ends| ends) {
        return Vec::new();
    }
    // What follows a trapped state is trapped too.
    let mut next = vec![Vec::new(); walk.states.len()];
    for way in &walk.transitions {
        if !ends[way.from as usize] {
            next[way.from as usize].push(way.to as usize);
        }
    }
    // A node that chooses may pick no route, or several, once its type is known; one that is caught may fail several times.
    let mut open = vec![false; graph.nodes.len()];
    for edge in &*graph.edges {
        if let Source::Node(node) = edge.from
            && (edge.via.route().is_some() || edge.via == Via::Catch)
        {
            open[node.index()] = true;
        }
    }
    let mut sets = SortedSet::new();
    for states in sinks(&next) {
        if ends[states[0]] {
            continue;
        }
        let nodes: SortedSet<NodeIdx> = states
            .iter()
            .flat_map(|&state| &walk.states[state].frontier)
            .copied()
            .collect();
        if !nodes.iter().any(|&node| open[node.index()]) {
            sets.insert(nodes.into_iter().collect());
        }
    }
    sets.into_iter().collect()
}

/// From which states an end can be reached.
#[inline]
fn can_end(walk: &Walk) -> Vec<bool> {
    let mut before = vec![Vec::new(); walk.states.len()];
    for way in &walk.transitions {
        before[way.to as usize].push(way.from as usize);
    }
    // The first state stands for START.
    let mut queue: Vec<usize> = (1..walk.states.len())
        .filter(|&state| walk.states[state].frontier.is_empty())
        .collect();
    let mut ends = vec![false; walk.states.len()];
    while let Some(state) = queue.pop() {
        if !std::mem::replace(&mut ends[state], true) {
            queue.extend(&before[state]);
        }
    }
    ends
}
