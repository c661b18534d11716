//! The analysis of a graph as constants, for constant evaluation. `analyses` makes it.

mod endless;
mod frontiers;
mod pairs;
mod paths;

use crate::idx::NodeIdx;

pub use endless::EndlessRow;
pub use frontiers::{FrontiersRef, Transition};
pub use pairs::PairsRef;
pub use paths::{PathEdge, PathsRef, kind};

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
