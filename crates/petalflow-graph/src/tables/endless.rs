//! Cycles that never end, as constants.

use crate::idx::NodeIdx;

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
