//! The graph as data: nodes, edges and joins, named and numbered, without tokens or functions.

use std::borrow::Cow;

/// A graph: what `flow!` reads from its tokens and what the run-time builder collects.
///
/// The node's index in [`nodes`](Self::nodes) is its *place*: writes fold in that order. Borrowed slices let the same type
/// stand in a `static` that a macro wrote.
///
/// ```
/// use petalflow_graph::{Edge, Graph, Node, Source, Target, Via, check};
///
/// let graph = Graph {
///     nodes: vec![Node::named("write"), Node::named("publish")].into(),
///     edges: vec![
///         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(0) },
///         Edge { from: Source::Node(0), via: Via::Plain, to: Target::Node(1) },
///         Edge { from: Source::Node(1), via: Via::Plain, to: Target::End },
///     ]
///     .into(),
///     joins: 0,
/// };
/// assert_eq!(graph.place("publish"), Some(1));
/// assert!(check(&graph).is_empty());
/// ```
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
///
/// ```
/// use petalflow_graph::Node;
///
/// let last = Node { deferred: true, ..Node::named("report") };
/// assert_eq!(last.name, "report");
/// assert!(!last.many && !last.subflow);
/// ```
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
///
/// ```
/// use petalflow_graph::{Edge, Source, Target, Via};
///
/// // The join of nodes 0 and 1 leads to node 2.
/// let join = [
///     Edge { from: Source::Node(0), via: Via::Plain, to: Target::Join(0) },
///     Edge { from: Source::Node(1), via: Via::Plain, to: Target::Join(0) },
///     Edge { from: Source::Join(0), via: Via::Plain, to: Target::Node(2) },
/// ];
/// assert_eq!(join.iter().filter(|edge| matches!(edge.from, Source::Node(_))).count(), 2);
/// ```
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
///
/// ```
/// use petalflow_graph::{Edge, Source, Target, Via};
///
/// let edge = Edge { from: Source::Start, via: Via::Plain, to: Target::Node(0) };
/// let next = match edge.to {
///     Target::Node(place) => Some(place),
///     Target::Join(_) | Target::End => None,
/// };
/// assert_eq!(next, Some(0));
/// ```
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
///
/// ```
/// use petalflow_graph::{Edge, Source, Target, Via};
///
/// // critique -> match { Publish => END }
/// let publish = Edge { from: Source::Node(0), via: Via::Route("Publish".into()), to: Target::End };
/// assert!(matches!(&publish.via, Via::Route(route) if route == "Publish"));
/// ```
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
///
/// ```
/// use petalflow_graph::{Edge, Source, Target, Via};
///
/// // catch fetch -> recover
/// let (fetch, recover) = (0, 1);
/// let caught = Edge { from: Source::Node(fetch), via: Via::Catch, to: Target::Node(recover) };
/// assert_ne!(caught.via, Via::Plain);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it begins.
    pub from: Source,
    /// What makes it fire.
    pub via: Via,
    /// Where it leads.
    pub to: Target,
}

impl Via {
    /// The name of the route whose choice makes the edge fire.
    ///
    /// ```
    /// use petalflow_graph::Via;
    ///
    /// assert_eq!(Via::Route("Publish".into()).route(), Some("Publish"));
    /// assert_eq!(Via::Catch.route(), None);
    /// ```
    #[inline]
    pub fn route(&self) -> Option<&str> {
        match self {
            Via::Route(route) | Via::RouteEach(route) => Some(route),
            Via::Plain | Via::Each | Via::Catch => None,
        }
    }

    /// Whether the edge sends a list, which may be empty: one run of its target per item.
    #[inline]
    pub const fn is_each(&self) -> bool {
        matches!(self, Via::Each | Via::RouteEach(_))
    }
}

impl Edge {
    /// Whether it sends a list to a node: one run of that node per item.
    #[inline]
    pub(crate) const fn sends_list(&self) -> bool {
        self.via.is_each() && matches!(self.to, Target::Node(_))
    }
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
