//! The explored states as constants of generated code.

use super::state_space::StateSpace;
use crate::components::postorder;
use crate::idx::to_u32;

/// The states of a run and the transitions between them. State 0 is START. The other states without nodes are ends.
///
/// The states are in reverse postorder, so that most transitions lead forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontiers {
    /// The index of the first node of each state, and the length of [`nodes`](Self::nodes).
    pub offsets: Vec<u32>,
    /// The nodes of each state, ascending.
    pub nodes: Vec<u32>,
    /// The transitions, sorted by their first state.
    pub transitions: Vec<Transition>,
    /// The nodes that have failed on a transition, so that their writes are lost.
    pub lost: Vec<u32>,
}

/// A transition from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The first state.
    pub from: u32,
    /// The second state.
    pub to: u32,
    /// The index in [`Frontiers::lost`] of the first node that has failed on this transition.
    pub lost_begin: u32,
    /// The index after the last of them.
    pub lost_end: u32,
}

impl Transition {
    /// A transition, from plain numbers.
    #[inline]
    pub const fn new(from: u32, to: u32, lost_begin: u32, lost_end: u32) -> Self {
        Transition {
            from,
            to,
            lost_begin,
            lost_end,
        }
    }
}

impl Frontiers {
    /// The explored states, unless they are too many for the constants of a program.
    #[inline]
    pub(crate) fn of(space: &StateSpace, nodes: usize) -> Option<Self> {
        let states = space.states.len();
        let cells: usize = space.states.iter().map(|state| state.frontier.len()).sum();
        let lost: usize = space
            .transitions
            .iter()
            .map(|transition| transition.lost.len())
            .sum();
        let limit = 8 * nodes + 256;
        if states > limit || cells.max(space.transitions.len()).max(lost) > 4 * limit {
            return None;
        }
        let order = reverse_postorder(space);
        let mut number = vec![0; states];
        for (position, &state) in order.iter().enumerate() {
            number[state] = to_u32(position);
        }
        let mut frontiers = Frontiers {
            offsets: vec![0],
            nodes: Vec::new(),
            transitions: Vec::new(),
            lost: Vec::new(),
        };
        for &state in &order {
            let nodes = &space.states[state].frontier;
            frontiers
                .nodes
                .extend(nodes.iter().map(|node| node.as_u32()));
            frontiers.offsets.push(to_u32(frontiers.nodes.len()));
        }
        let mut transitions: Vec<_> = space
            .transitions
            .iter()
            .map(|transition| {
                (
                    number[transition.from as usize],
                    number[transition.to as usize],
                    &transition.lost,
                )
            })
            .collect();
        transitions.sort_unstable();
        for (from, to, lost) in transitions {
            let begin = to_u32(frontiers.lost.len());
            frontiers.lost.extend(lost.iter().map(|node| node.as_u32()));
            let end = to_u32(frontiers.lost.len());
            frontiers
                .transitions
                .push(Transition::new(from, to, begin, end));
        }
        Some(frontiers)
    }

    /// The form that constant evaluation reads.
    #[inline]
    pub fn view(&self) -> FrontiersRef<'_> {
        FrontiersRef {
            offsets: &self.offsets,
            nodes: &self.nodes,
            transitions: &self.transitions,
            lost: &self.lost,
        }
    }
}

/// A borrowed [`Frontiers`].
#[derive(Clone, Copy, Debug)]
pub struct FrontiersRef<'a> {
    /// See [`Frontiers::offsets`].
    pub offsets: &'a [u32],
    /// See [`Frontiers::nodes`].
    pub nodes: &'a [u32],
    /// See [`Frontiers::transitions`].
    pub transitions: &'a [Transition],
    /// See [`Frontiers::lost`].
    pub lost: &'a [u32],
}

impl FrontiersRef<'_> {
    /// The number of states.
    #[inline]
    pub const fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the run has ended in this state.
    #[inline]
    pub const fn is_end(&self, state: usize) -> bool {
        state != 0 && self.offsets[state] == self.offsets[state + 1]
    }
}

#[inline]
fn reverse_postorder(space: &StateSpace) -> Vec<usize> {
    let mut next = vec![Vec::new(); space.states.len()];
    for transition in &space.transitions {
        next[transition.from as usize].push(transition.to as usize);
    }
    let mut order = postorder(&next, 0);
    order.reverse();
    order
}
