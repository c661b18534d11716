//! Sets of states that a run cannot leave, judged by the explored states.

use crate::analyses::state_space::StateSpace;
use crate::components::sinks;
use crate::graph::{Graph, Source, Via};
use crate::idx::NodeIdx;
use crate::sorted::SortedSet;

/// The nodes of each set of states that a run cannot leave, if that does not depend on what the nodes choose.
#[inline]
pub(crate) fn inescapable_sets(graph: &Graph, space: &StateSpace) -> Vec<Vec<NodeIdx>> {
    let ends = can_end(space);
    if ends.iter().all(|&ends| ends) {
        return Vec::new();
    }
    // If the run cannot end from a state, it cannot end from the following states either.
    let mut next = vec![Vec::new(); space.states.len()];
    for transition in &space.transitions {
        if !ends[transition.from as usize] {
            next[transition.from as usize].push(transition.to as usize);
        }
    }
    // The type of a node that chooses may allow no route, or several. A node whose failure is caught may fail several times.
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
        let mut nodes: SortedSet<NodeIdx> = SortedSet::new();
        for state in states {
            nodes.extend(space.states[state].frontier.iter().copied());
        }
        if !nodes.iter().any(|&node| open[node.index()]) {
            sets.insert(nodes.into_iter().collect());
        }
    }
    sets.into_iter().collect()
}

/// The states from which an end can be reached.
#[inline]
fn can_end(space: &StateSpace) -> Vec<bool> {
    let mut before = vec![Vec::new(); space.states.len()];
    for transition in &space.transitions {
        before[transition.to as usize].push(transition.from as usize);
    }
    // The first state is START.
    let mut queue: Vec<usize> = (1..space.states.len())
        .filter(|&state| space.states[state].frontier.is_empty())
        .collect();
    let mut ends = vec![false; space.states.len()];
    while let Some(state) = queue.pop() {
        if !std::mem::replace(&mut ends[state], true) {
            queue.extend(&before[state]);
        }
    }
    ends
}
