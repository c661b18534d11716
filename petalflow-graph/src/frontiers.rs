//! The explored states as constants that a macro can write down.

use crate::idx::to_u32;
use crate::walk::Walk;

/// The states of a run and the ways between them. State 0 stands for START; the other states without nodes are ends.
///
/// The states are in reverse postorder, so that most ways lead forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontiers {
    /// Where the nodes of each state begin, and where the last ones end.
    pub offsets: Vec<u32>,
    /// The nodes of each state, ascending.
    pub nodes: Vec<u32>,
    /// The ways `(from, to, lost, lost_end)`, by `from`; `lost..lost_end` are indices in [`lost`](Self::lost).
    pub ways: Vec<(u32, u32, u32, u32)>,
    /// The nodes that have failed on a way, so that what they write is not sure.
    pub lost: Vec<u32>,
}

impl Frontiers {
    /// The states that were explored, unless they are too many to be constants of a program.
    #[inline]
    pub(crate) fn of(walk: &Walk, nodes: usize) -> Option<Self> {
        let states = walk.states.len();
        let cells: usize = walk.states.iter().map(|state| state.frontier.len()).sum();
        let lost: usize = walk.transitions.iter().map(|way| way.lost.len()).sum();
        let limit = 8 * nodes + 256;
        if states > limit || cells.max(walk.transitions.len()).max(lost) > 4 * limit {
            return None;
        }
        let order = reverse_postorder(walk);
        let mut number = vec![0; states];
        for (place, &state) in order.iter().enumerate() {
            number[state] = to_u32(place);
        }
        let mut frontiers = Frontiers {
            offsets: vec![0],
            nodes: Vec::new(),
            ways: Vec::new(),
            lost: Vec::new(),
        };
        for &state in &order {
            let nodes = &walk.states[state].frontier;
            frontiers
                .nodes
                .extend(nodes.iter().map(|node| node.as_u32()));
            frontiers.offsets.push(to_u32(frontiers.nodes.len()));
        }
        let mut ways: Vec<_> = walk
            .transitions
            .iter()
            .map(|way| {
                (
                    number[way.from as usize],
                    number[way.to as usize],
                    &way.lost,
                )
            })
            .collect();
        ways.sort_unstable();
        for (from, to, lost) in ways {
            let begin = to_u32(frontiers.lost.len());
            frontiers.lost.extend(lost.iter().map(|node| node.as_u32()));
            frontiers
                .ways
                .push((from, to, begin, to_u32(frontiers.lost.len())));
        }
        Some(frontiers)
    }

    /// The form that constant evaluation reads.
    #[inline]
    pub fn view(&self) -> FrontiersRef<'_> {
        FrontiersRef {
            offsets: &self.offsets,
            nodes: &self.nodes,
            ways: &self.ways,
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
    /// See [`Frontiers::ways`].
    pub ways: &'a [(u32, u32, u32, u32)],
    /// See [`Frontiers::lost`].
    pub lost: &'a [u32],
}

impl FrontiersRef<'_> {
    /// How many states there are.
    #[inline]
    pub const fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the run is over in this state.
    #[inline]
    pub const fn is_end(&self, state: usize) -> bool {
        state != 0 && self.offsets[state] == self.offsets[state + 1]
    }
}

#[inline]
fn reverse_postorder(walk: &Walk) -> Vec<usize> {
    let mut next = vec![Vec::new(); walk.states.len()];
    for way in &walk.transitions {
        next[way.from as usize].push(way.to as usize);
    }
    let mut order = postorder(&next, 0);
    order.reverse();
    order
}

/// The vertices that can be reached from `start`, each after those it leads to (but for cycles).
#[inline]
pub(crate) fn postorder(next: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut stack = vec![(start, 0)];
    seen[start] = true;
    while let Some((vertex, child)) = stack.last_mut() {
        if let Some(&to) = next[*vertex].get(*child) {
            *child += 1;
            if !std::mem::replace(&mut seen[to], true) {
                stack.push((to, 0));
            }
        } else {
            order.push(*vertex);
            stack.pop();
        }
    }
    order
}
