//! Sets of states that a run cannot leave, judged by the explored states.

use crate::analyses::state_space::StateSpace;
use crate::components::sinks;
use crate::graph::{Graph, Source, Via};
use crate::idx::NodeIdx;
use crate::lists::lists;
use crate::sorted::insert;

/// The nodes of each set of states that a run cannot leave, if that does not depend on what the nodes choose.
pub(crate) fn inescapable_sets(graph: &Graph, space: &StateSpace) -> Vec<Vec<NodeIdx>> {
    let ends = can_end(space);
    if !ends.contains(&false) {
        return Vec::new();
    }
    // If the run cannot end from a state, it cannot end from the following states either.
    let mut next = lists(space.states.len());
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
    let mut sets = Vec::new();
    for states in &sinks(&next) {
        if ends[states[0]] {
            continue;
        }
        let (mut nodes, mut is_open) = (Vec::new(), false);
        for state in states {
            for node in &space.states[*state].frontier {
                is_open |= open[node.index()];
                insert(&mut nodes, *node);
            }
        }
        if !is_open {
            insert(&mut sets, nodes);
        }
    }
    sets
}

/// The states from which an end can be reached.
fn can_end(space: &StateSpace) -> Vec<bool> {
    let mut before = lists(space.states.len());
    for transition in &space.transitions {
        before[transition.to as usize].push(transition.from as usize);
    }
    let mut queue = Vec::new();
    for (index, state) in space.states.iter().enumerate() {
        // The first state is START.
        if index > 0 && state.frontier.is_empty() {
            queue.push(index);
        }
    }
    let mut ends = vec![false; space.states.len()];
    while let Some(state) = queue.pop() {
        if !std::mem::replace(&mut ends[state], true) {
            queue.extend_from_slice(&before[state]);
        }
    }
    ends
}
