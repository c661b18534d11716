//! The explored states as constants.

/// The states of a run and the transitions between them. State 0 is START. The other states without nodes are ends.
///
/// The states are in reverse postorder, so that most transitions lead forward.
#[derive(Clone, Copy, Debug)]
pub struct FrontiersRef<'a> {
    /// The index of the first node of each state, and the length of [`nodes`](Self::nodes).
    pub offsets: &'a [u32],
    /// The nodes of each state, ascending.
    pub nodes: &'a [u32],
    /// The transitions, sorted by their first state.
    pub transitions: &'a [Transition],
    /// The nodes that have failed on a transition, so that their writes are lost.
    pub lost: &'a [u32],
}

impl FrontiersRef<'_> {
    /// The number of states.
    pub const fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the run has ended in this state.
    pub const fn is_end(&self, state: usize) -> bool {
        state != 0 && self.offsets[state] == self.offsets[state + 1]
    }
}

/// A transition from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The first state.
    pub from: u32,
    /// The second state.
    pub to: u32,
    /// The index in [`FrontiersRef::lost`] of the first node that has failed on this transition.
    pub lost_begin: u32,
    /// The index after the last of them.
    pub lost_end: u32,
}

impl Transition {
    /// A transition, from plain numbers.
    pub const fn new(from: u32, to: u32, lost_begin: u32, lost_end: u32) -> Self {
        Transition {
            from,
            to,
            lost_begin,
            lost_end,
        }
    }
}
