//! The edges of a graph as constants, in the two orders that the analysis of keys needs.

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
