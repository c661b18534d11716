//! The analysis of a graph as constants, for constant evaluation. `analyses` makes it.

use crate::idx::NodeIdx;

/// The analysis of a graph without the types of its nodes: the constants of generated code.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// Whether [`together`](Self::together) is the result of visiting all states of the run.
    pub exact: bool,
    /// The nodes that can run together.
    pub together: PairsRef<'a>,
    /// The states of the run, if there are not too many.
    pub frontiers: Option<FrontiersRef<'a>>,
    /// The edges.
    pub paths: PathsRef<'a>,
    /// The difference if a node picks several routes.
    pub any: Option<AnyRef<'a>>,
    /// The difference if one of these nodes takes items. It then runs once per delivery, and it can receive several deliveries in
    /// one superstep. `None` if there is no such node.
    pub delivered: Option<(&'a [NodeIdx], AnyRef<'a>)>,
    /// The cycles that never end if the nodes that choose in them pick exactly one route. The rows of a part are consecutive, and so are those of a set.
    pub endless: &'a [EndlessRow],
}

/// The possible runs if nodes pick more of their routes than declared.
#[derive(Clone, Copy, Debug)]
pub struct AnyRef<'a> {
    /// The nodes that can run together.
    pub together: PairsRef<'a>,
    /// For each join that can wait forever, and cannot if the nodes pick as declared, the node at which it is reported.
    pub stuck_at: &'a [NodeIdx],
}

impl Tables<'_> {
    /// The number of key sets that [`diagnose`](crate::diagnose) needs as scratch space.
    pub const fn scratch(&self) -> usize {
        let paths = self.paths.end() as usize + 1;
        match &self.frontiers {
            Some(frontiers) if frontiers.states() > paths => frontiers.states(),
            _ => paths,
        }
    }
}

/// The pairs of nodes that can run in one superstep.
#[derive(Clone, Copy, Debug)]
pub struct PairsRef<'a> {
    /// The index of the first range of each node, and the length of [`ranges`](Self::ranges).
    pub offsets: &'a [u32],
    /// For each node `a` the ranges `(first, last)` of nodes `b >= a` that it can run with.
    pub ranges: &'a [(u32, u32)],
}

impl PairsRef<'_> {
    /// Whether the two nodes can run in one superstep.
    pub const fn contains(&self, a: NodeIdx, b: NodeIdx) -> bool {
        let (a, b) = (a.as_u32(), b.as_u32());
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let mut i = self.offsets[a as usize] as usize;
        while i < self.offsets[a as usize + 1] as usize {
            let (first, last) = self.ranges[i];
            if first <= b && b <= last {
                return true;
            }
            i += 1;
        }
        false
    }
}

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

/// An edge between vertices. The vertices are the nodes, then the joins, then [`PathsRef::start`] and [`PathsRef::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEdge {
    /// The source.
    pub from: u32,
    /// The target.
    pub to: u32,
    /// The kind of the edge: constants of [`kind`](mod@kind).
    pub kind: u8,
    /// The number of its route. The edges of one route have the same number.
    pub route: u32,
}

impl PathEdge {
    /// An edge, from plain numbers.
    pub const fn new(from: u32, to: u32, kind: u8, route: u32) -> Self {
        PathEdge {
            from,
            to,
            kind,
            route,
        }
    }
}

/// The kind of an edge: one of the first five constants, and any of the flags.
pub mod kind {
    /// Fires whenever its source has run.
    pub const PLAIN: u8 = 0;
    /// Sends a list of items.
    pub const EACH: u8 = 1;
    /// Fires when its route is chosen.
    pub const ROUTE: u8 = 2;
    /// Sends a list of items when its route is chosen.
    pub const ROUTE_EACH: u8 = 3;
    /// Fires when its source has failed.
    pub const CATCH: u8 = 4;
    /// Its source may have received no items.
    pub const FROM_BATCH: u8 = 8;
    /// Its target runs later than in the next superstep, so ephemeral values are gone.
    pub const LATE: u8 = 16;
    /// Leads back to an earlier vertex.
    pub const BACK: u8 = 32;
    /// The bits without the flags.
    pub const WITHOUT_FLAGS: u8 = 7;
}

/// The edges in two orders.
#[derive(Clone, Copy, Debug)]
pub struct PathsRef<'a> {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of joins.
    pub joins: u32,
    /// The edges by target (in reverse postorder), then by source: for the keys that have been written.
    pub forward: &'a [PathEdge],
    /// The edges by source (in postorder): for the keys that will be written.
    pub backward: &'a [PathEdge],
}

impl PathsRef<'_> {
    /// The vertex of START.
    pub const fn start(&self) -> u32 {
        self.nodes + self.joins
    }

    /// The vertex of END.
    pub const fn end(&self) -> u32 {
        self.nodes + self.joins + 1
    }
}

/// A row of [`Tables::endless`](crate::Tables::endless): one routing node of one set of nodes.
///
/// A set never ends if each of its routing nodes picks exactly one route. The first such set of each part is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndlessRow {
    /// The part of the graph.
    pub part: u32,
    /// The set within the part.
    pub set: u32,
    /// The node at which the set is reported.
    pub report_at: NodeIdx,
    /// The routing node.
    pub node: NodeIdx,
    /// How many routes of the routing node have edges.
    pub arms: u32,
}

impl EndlessRow {
    /// A row, from plain numbers.
    pub const fn new(part: u32, set: u32, report_at: u32, node: u32, arms: u32) -> Self {
        EndlessRow {
            part,
            set,
            report_at: NodeIdx::new(report_at),
            node: NodeIdx::new(node),
            arms,
        }
    }
}
