//! The model of a graph: nodes, edges and joins, without tokens or functions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::idx::{JoinIdx, NodeIdx};

/// A graph, from the tokens of `flow!` or from the run-time builder.
///
/// Writes of one superstep are applied in the order of the nodes. The slices can be borrowed, so a `static` of generated code has
/// the same type.
///
/// ```
/// use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via, check};
///
/// let [write, publish] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let graph = Graph {
///     nodes: vec![Node::named("write"), Node::named("publish")].into(),
///     edges: vec![
///         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(write) },
///         Edge { from: Source::Node(write), via: Via::Plain, to: Target::Node(publish) },
///         Edge { from: Source::Node(publish), via: Via::Plain, to: Target::End },
///     ]
///     .into(),
///     joins: 0,
/// };
/// assert_eq!(graph.index_of("publish"), Some(publish));
/// assert!(check(&graph).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Cow<'static, [Node]>,
    /// The edges in the order they were written.
    pub edges: Cow<'static, [Edge]>,
    /// The number of joins. Edges refer to them by [`JoinIdx`].
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
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, as in a graph's settings"
)]
pub struct Node {
    /// Its name in the graph.
    pub name: Cow<'static, str>,
    /// Whether it runs only when no other node is active (`defer`).
    pub deferred: bool,
    /// Whether it picks any number of its routes rather than exactly one.
    pub many: bool,
    /// Whether it is a flow.
    pub subflow: bool,
    /// Whether the join before it waits only for sides that something active can reach. See
    /// [`SkippableJoin`](crate::SkippableJoin).
    pub merge: bool,
    /// Whether the run stops before it (`interrupt before`).
    pub before: When,
    /// Whether the run stops after it (`interrupt after`).
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
    /// If its guard returns true.
    Guarded,
    /// Always.
    Always,
}

/// The source of an edge.
///
/// ```
/// use petalflow_graph::{Edge, JoinIdx, NodeIdx, Source, Target, Via};
///
/// // The join of the first two nodes leads to the third.
/// let (both, [a, b, c]) = (JoinIdx::new(0), [0, 1, 2].map(NodeIdx::new));
/// let join = [
///     Edge { from: Source::Node(a), via: Via::Plain, to: Target::Join(both) },
///     Edge { from: Source::Node(b), via: Via::Plain, to: Target::Join(both) },
///     Edge { from: Source::Join(both), via: Via::Plain, to: Target::Node(c) },
/// ];
/// assert_eq!(join.iter().filter(|edge| matches!(edge.from, Source::Node(_))).count(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The start of the run.
    Start,
    /// A node.
    Node(NodeIdx),
    /// A join. Its edges fire when all sides have arrived.
    Join(JoinIdx),
}

/// The target of an edge.
///
/// ```
/// use petalflow_graph::{Edge, NodeIdx, Source, Target, Via};
///
/// let first = NodeIdx::new(0);
/// let edge = Edge { from: Source::Start, via: Via::Plain, to: Target::Node(first) };
/// let next = match edge.to {
///     Target::Node(node) => Some(node),
///     Target::Join(_) | Target::End => None,
/// };
/// assert_eq!(next, Some(first));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A node.
    Node(NodeIdx),
    /// One side of this join.
    Join(JoinIdx),
    /// The end of this path.
    End,
}

/// What makes an edge fire.
///
/// ```
/// use petalflow_graph::{Edge, NodeIdx, Source, Target, Via};
///
/// // critique -> match { Publish => END }
/// let critique = Source::Node(NodeIdx::new(0));
/// let publish = Edge { from: critique, via: Via::Route("Publish".into()), to: Target::End };
/// assert!(matches!(&publish.via, Via::Route(route) if route == "Publish"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// Its source has run.
    Plain,
    /// Its source has run and sends one item per run of the target (`each`).
    Each,
    /// Its source chose the route of this name; a payload of the route is delivered to the target.
    Route(Cow<'static, str>),
    /// Its source chose the route of this name, whose payload is a list: one run of the target per item.
    RouteEach(Cow<'static, str>),
    /// Its source has failed after all its attempts (`catch`).
    Catch,
}

/// One edge of a [`Graph`].
///
/// ```
/// use petalflow_graph::{Edge, NodeIdx, Source, Target, Via};
///
/// // catch fetch -> recover
/// let [fetch, recover] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let caught = Edge { from: Source::Node(fetch), via: Via::Catch, to: Target::Node(recover) };
/// assert_ne!(caught.via, Via::Plain);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Its source.
    pub from: Source,
    /// What makes it fire.
    pub via: Via,
    /// Its target.
    pub to: Target,
}

impl Target {
    /// The node, if it is one.
    pub const fn node(self) -> Option<NodeIdx> {
        match self {
            Target::Node(node) => Some(node),
            Target::Join(_) | Target::End => None,
        }
    }

    /// The source of the edges that follow, unless the path ends.
    pub(crate) const fn source(self) -> Option<Source> {
        match self {
            Target::Node(node) => Some(Source::Node(node)),
            Target::Join(join) => Some(Source::Join(join)),
            Target::End => None,
        }
    }
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
    pub fn route(&self) -> Option<&str> {
        match self {
            Via::Route(route) | Via::RouteEach(route) => Some(route),
            Via::Plain | Via::Each | Via::Catch => None,
        }
    }

    /// Whether the edge sends a list, which may be empty: one run of its target per item.
    pub const fn is_each(&self) -> bool {
        matches!(self, Via::Each | Via::RouteEach(_))
    }
}

impl Node {
    /// A node of this name, with all other fields at their defaults.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Node {
            name: name.into(),
            deferred: false,
            many: false,
            subflow: false,
            merge: false,
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

    /// The sides of a join: the first edge from each source.
    pub fn sides(&self, join: JoinIdx) -> Vec<&Edge> {
        let mut known = BTreeSet::new();
        let edges = self.edges().iter();
        edges
            .filter(|edge| edge.to == Target::Join(join) && known.insert(edge.from))
            .collect()
    }

    /// The number of a source: first the nodes, then the joins, then START.
    pub(crate) fn vertex(&self, source: Source) -> usize {
        match source {
            Source::Node(node) => node.index(),
            Source::Join(join) => self.nodes.len() + join.index(),
            Source::Start => self.nodes.len() + self.joins as usize,
        }
    }

    /// How many sources there are.
    pub(crate) fn vertices(&self) -> usize {
        self.vertex(Source::Start) + 1
    }

    /// The index of the node of this name.
    pub fn index_of(&self, name: &str) -> Option<NodeIdx> {
        self.nodes
            .iter()
            .position(|node| node.name == name)
            .map(NodeIdx::from_usize)
    }

    /// The indices of all nodes, in ascending order.
    pub fn node_indices(&self) -> impl DoubleEndedIterator<Item = NodeIdx> + Clone + use<> {
        NodeIdx::all(self.nodes.len())
    }

    /// The node at this index.
    pub fn node(&self, node: NodeIdx) -> &Node {
        &self.nodes[node.index()]
    }
}
