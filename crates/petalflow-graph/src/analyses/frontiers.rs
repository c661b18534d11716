//! The explored states as constants of generated code.

use super::state_space::StateSpace;
use crate::components::postorder;
use crate::idx::{NodeIdx, to_u32};
use crate::tables::{FrontiersRef, Transition};

/// An owned [`FrontiersRef`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontiers {
    /// See [`FrontiersRef::offsets`].
    pub offsets: Vec<u32>,
    /// See [`FrontiersRef::nodes`].
    pub nodes: Vec<u32>,
    /// See [`FrontiersRef::transitions`].
    pub transitions: Vec<Transition>,
    /// See [`FrontiersRef::lost`].
    pub lost: Vec<u32>,
}

impl Frontiers {
    /// The explored states, unless they are too many for the constants of a program.
    pub(crate) fn of(space: &StateSpace, nodes: usize) -> Option<Self> {
        let states = space.states.len();
        let cells: usize = space.states.iter().map(|state| state.frontier.len()).sum();
        let lost: usize = space.transitions.iter().map(|it| it.lost.len()).sum();
        let limit = 8 * nodes + 256;
        if states > limit || cells.max(space.transitions.len()).max(lost) > 4 * limit {
            return None;
        }
        let order = reverse_postorder(space);
        let mut number = vec![0; states];
        for (position, state) in order.iter().enumerate() {
            number[*state] = to_u32(position);
        }
        let mut frontiers = Frontiers {
            offsets: vec![0],
            nodes: Vec::new(),
            transitions: Vec::new(),
            lost: Vec::new(),
        };
        let numbers =
            |nodes: &[NodeIdx]| nodes.iter().map(|node| node.as_u32()).collect::<Vec<_>>();
        for state in order {
            frontiers
                .nodes
                .extend(numbers(&space.states[state].frontier));
            frontiers.offsets.push(to_u32(frontiers.nodes.len()));
        }
        let numbered = |transition: &super::state_space::Transition| {
            let from = number[transition.from as usize];
            (
                from,
                number[transition.to as usize],
                numbers(&transition.lost),
            )
        };
        let mut transitions: Vec<(u32, u32, Vec<u32>)> =
            space.transitions.iter().map(numbered).collect();
        transitions.sort_unstable();
        for (from, to, lost) in transitions {
            let begin = to_u32(frontiers.lost.len());
            frontiers.lost.extend(lost);
            let end = to_u32(frontiers.lost.len());
            frontiers
                .transitions
                .push(Transition::new(from, to, begin, end));
        }
        Some(frontiers)
    }

    /// The form that constant evaluation reads.
    pub fn view(&self) -> FrontiersRef<'_> {
        FrontiersRef {
            offsets: &self.offsets,
            nodes: &self.nodes,
            transitions: &self.transitions,
            lost: &self.lost,
        }
    }
}

fn reverse_postorder(space: &StateSpace) -> Vec<usize> {
    let mut next = vec![Vec::new(); space.states.len()];
    for transition in &space.transitions {
        next[transition.from as usize].push(transition.to as usize);
    }
    let mut order = postorder(&next, 0);
    order.reverse();
    order
}
