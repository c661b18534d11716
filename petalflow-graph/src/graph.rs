//! The graph as data: nodes, edges and joins, named and numbered, without tokens or functions.

use std::borrow::Cow;

/// A graph: what `flow!` reads from its tokens and what the run-time builder collects.
///
/// The node's index in [`nodes`](Self::nodes) is its *place*: writes fold in that order. Borrowed slices let the same type
/// stand in a `static` that a macro wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes by place.
    pub nodes: Cow<'static, [Node]>,
    /// The edges in the order they were written.
    pub edges: Cow<'static, [Edge]>,
    /// How many joins there are; edges refer to them by number.
    pub joins: u32,
}

/// One node of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name in the graph.
    pub name: Cow<'static, str>,
    /// Runs only when nothing else is active (`defer`).
    pub deferred: bool,
    /// Picks any number of its routes rather than exactly one.
    pub many: bool,
    /// Is a flow of its own.
    pub subflow: bool,
    /// Whether the run stops for a person before it (`interrupt before`).
    pub before: When,
    /// Whether the run stops for a person after it (`interrupt after`).
    pub after: When,
    /// Its name in stored checkpoints, if that is not its name (`id`).
    pub stored: Option<Cow<'static, str>>,
}

/// Whether the run stops at an `interrupt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum When {
    /// There is no `interrupt`.
    #[default]
    Never,
    /// Where its guard says so.
    Guarded,
    /// Whenever the run gets there.
    Always,
}

/// Where an edge begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The start of the run.
    Start,
    /// A node, by place.
    Node(u32),
    /// A join, by number: taken when all sides have arrived.
    Join(u32),
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A node, by place.
    Node(u32),
    /// One side of a join, by the join's number.
    Join(u32),
    /// The end of this path.
    End,
}

/// What makes an edge fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Its source has run.
    Plain,
    /// Its source has run and sends one item per run of the target (`each`).
    Each,
    /// Its source chose the route of this name; a payload of the route is delivered to the target.
    Route(Cow<'static, str>),
    /// Its source chose the route of this name, whose payload is a list: one run of the target per item.
    RouteEach(Cow<'static, str>),
    /// Its source has failed for good (`catch`).
    Catch,
}

/// One edge of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it begins.
    pub from: Source,
    /// What makes it fire.
    pub via: Via,
    /// Where it leads.
    pub to: Target,
}

impl Node {
    /// A node of this name that does nothing special.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Node {
            name: name.into(),
            deferred: false,
            many: false,
            subflow: false,
            before: When::Never,
            after: When::Never,
            stored: None,
        }
    }

    /// Its name in stored checkpoints.
    pub fn stored_name(&self) -> &str {
        self.stored.as_deref().unwrap_or(&self.name)
    }
}

impl Graph {
    /// The nodes, in a form that constant evaluation can read.
    pub const fn nodes(&self) -> &[Node] {
        match &self.nodes {
            Cow::Borrowed(nodes) => nodes,
            Cow::Owned(nodes) => nodes.as_slice(),
        }
    }

    /// The edges, in a form that constant evaluation can read.
    pub const fn edges(&self) -> &[Edge] {
        match &self.edges {
            Cow::Borrowed(edges) => edges,
            Cow::Owned(edges) => edges.as_slice(),
        }
    }

    /// The place of the node of this name.
    pub fn place(&self, name: &str) -> Option<u32> {
        self.nodes
            .iter()
            .position(|node| node.name == name)
            .map(index)
    }
}

/// A place as the tables store it.
///
/// # Panics
///
/// If there are more than `u32::MAX` of them.
pub fn index(place: usize) -> u32 {
    u32::try_from(place).expect("a graph has fewer than 2^32 nodes")
}
