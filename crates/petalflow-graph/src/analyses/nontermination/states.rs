//! Sets of states that a run cannot leave, judged by the explored states.

use std::collections::BTreeSet;

use crate::analyses::state_space::StateSpace;
use crate::components::sinks;
use crate::graph::{Graph, Source, Via};
use crate::idx::NodeIdx;

/// The nodes of each set of states that a run cannot leave, if that does not depend on what the nodes choose.
pub(crate) fn inescapable_sets(graph: &Graph, space: &StateSpace) -> Vec<Vec<NodeIdx>> {
    let ends = can_end(space);
    if !ends.contains(&false) {
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
    let sinks = sinks(&next);
    let endless = sinks.iter().filter(|states| !ends[states[0]]);
    let nodes = endless.map(|states| {
        let frontiers = states
            .iter()
            .flat_map(|&state| &space.states[state].frontier);
        frontiers.copied().collect()
    });
    let sets: BTreeSet<BTreeSet<NodeIdx>> = nodes.collect();
    sets.into_iter()
        .filter(|nodes| !nodes.iter().any(|node| open[node.index()]))
        .map(|nodes| nodes.into_iter().collect())
        .collect()
}

/// The states from which an end can be reached.
fn can_end(space: &StateSpace) -> Vec<bool> {
    let mut before = vec![Vec::new(); space.states.len()];
    for transition in &space.transitions {
        before[transition.to as usize].push(transition.from as usize);
    }
    // The first state is START.
    let states = 1..space.states.len();
    let mut queue: Vec<usize> = states
        .filter(|&state| space.states[state].frontier.is_empty())
        .collect();
    let mut ends = vec![false; space.states.len()];
    while let Some(state) = queue.pop() {
        if !std::mem::replace(&mut ends[state], true) {
            queue.extend_from_slice(&before[state]);
        }
    }
    ends
}
