//! The model: the nodes, edges and joins of a flow, with the tokens to underline.

use petalflow_graph::{Graph, NodeIdx, Source, Target, Via, When};
use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::{Expr, Path};

use super::ast::{Guard, NodeValue, Subflow};
use crate::options;

/// A flow's graph, with the tokens to underline.
#[derive(Default)]
pub(crate) struct Model {
    /// In the order in which they are first mentioned.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The sides of each join, as written.
    pub(crate) joins: Vec<TokenStream>,
    /// Each route of each node that has an arm, once.
    pub(crate) arms: Vec<Arm>,
    /// The interrupts, in the order of their statements. The engine refers to them by index.
    pub(crate) interrupt_points: Vec<InterruptPoint>,
    /// The parts of the text that have no meaning in the graph.
    pub(crate) misuses: Vec<Misuse>,
}

pub(crate) struct Node {
    pub(crate) name: String,
    /// The tokens of its declaration, or of its first mention.
    pub(crate) at: TokenStream,
    /// The first mention before an arrow, if it is not `at`. Mistakes in its edges are reported there.
    pub(crate) leaves: Option<TokenStream>,
    /// The number of mentions in chains so far.
    pub(crate) mentions: usize,
    pub(crate) kind: Kind,
    pub(crate) deferred: bool,
    /// Whether a `node` statement declares it.
    pub(crate) declared: bool,
    /// Whether a chain mentions it. Then its edges from START and to END can be left out.
    pub(crate) chained: bool,
    pub(crate) options: Vec<(Ident, Expr)>,
}

/// What a node runs.
pub(crate) enum Kind {
    /// An annotated function.
    Function(Path),
    /// A value that the flow holds.
    Value(Ident, Box<NodeValue>),
    Subflow(Box<Subflow>),
    /// A declaration that was reported.
    Broken,
}

pub(crate) struct Edge {
    pub(crate) from: Source,
    pub(crate) via: Via,
    pub(crate) to: Target,
    /// The tokens of its target.
    pub(crate) at: TokenStream,
    /// Whether the edge is not written, because `START` or `END` was left out.
    pub(crate) implied: bool,
}

pub(crate) struct Arm {
    pub(crate) node: NodeIdx,
    pub(crate) route: String,
    pub(crate) at: TokenStream,
    /// The index of its first edge.
    pub(crate) edge: usize,
}

impl Node {
    /// The value of this option in `with`.
    pub(crate) fn option(&self, option: &str) -> Option<&Expr> {
        let option = self.options.iter().find(|(name, _)| name.unraw() == option);
        option.map(|(_, value)| value)
    }

    /// Whether its name in the graph is that of the annotated function, which only its type knows. Lowering names a node by its
    /// path if its name is taken, and reports that.
    pub(crate) fn has_own_name(&self) -> bool {
        matches!(self.kind, Kind::Function(_)) && !self.declared && !self.name.contains("::")
    }

    /// Its name in stored checkpoints, if `with` has an `id`.
    pub(crate) fn id(&self) -> Option<String> {
        self.text("id")
    }

    /// The text of this option in `with`. One that cannot be read is reported by `check`.
    pub(crate) fn text(&self, option: &str) -> Option<String> {
        options::text(self.option(option)?)
    }
}

/// A part of the text that has no meaning in the graph.
pub(crate) struct Misuse {
    pub(crate) at: TokenStream,
    pub(crate) problem: Problem,
}

/// Why a part of the text has no meaning.
pub(crate) enum Problem {
    /// An edge leads out of END, to these nodes.
    OutOfEnd {
        to: String,
    },
    EndInJoin,
    StartInJoin,
    /// A side of a join is a choice.
    ChoiceInJoin {
        group: String,
    },
    /// `each` after START or a join.
    EachFromNoNode {
        from: String,
    },
    StartToEnd,
    IntoStart {
        from: String,
    },
    EachEnd,
    /// The target of a route without a name is a group, so the route cannot have its name.
    UnnamedRoute {
        group: String,
    },
    MatchWithoutArms,
    /// An arm leads to a choice of these targets.
    ChoiceInArm {
        route: String,
        targets: Vec<String>,
    },
    /// A choice beside edges that always fire.
    ChoiceBesideEdges {
        group: String,
    },
    StartChooses,
    JoinChooses {
        join: String,
    },
    /// All routes of a `match` already have arms. `first` is the first of those arms.
    MatchedTwice {
        node: String,
        first: TokenStream,
    },
    /// A route already has an arm.
    RouteTwice {
        node: String,
        route: String,
        first: TokenStream,
    },
    /// A failure leads to START or END.
    CaughtByNoNode {
        to: String,
    },
    /// A second name for a node that this flow declares.
    AliasOfDeclared {
        node: String,
    },
    DeferredTwice {
        node: String,
    },
    RepeatedOption {
        option: String,
    },
    InterruptedTwice {
        side: &'static str,
        node: String,
    },
}

/// An `interrupt`.
pub(crate) struct InterruptPoint {
    pub(crate) node: NodeIdx,
    pub(crate) after: bool,
    pub(crate) guard: Option<Guard>,
}

impl InterruptPoint {
    /// The side of the node on which the run stops: "before" or "after".
    pub(crate) fn side(&self) -> &'static str {
        if self.after { "after" } else { "before" }
    }
}

impl Model {
    /// The arm of a node for a route.
    pub(crate) fn arm(&self, node: NodeIdx, route: &str) -> Option<&Arm> {
        self.arms
            .iter()
            .find(|arm| arm.node == node && arm.route == route)
    }

    /// The graph without tokens.
    pub(crate) fn graph(&self) -> Graph {
        let nodes = self.nodes.iter().map(|node| petalflow_graph::Node {
            deferred: node.deferred,
            subflow: matches!(node.kind, Kind::Subflow(_)),
            stored: node.id().map(Into::into),
            ..petalflow_graph::Node::named(node.name.clone())
        });
        let mut nodes: Vec<_> = nodes.collect();
        for point in &self.interrupt_points {
            let node = &mut nodes[point.node.index()];
            let guarded = point.guard.is_some();
            *(if point.after {
                &mut node.after
            } else {
                &mut node.before
            }) = if guarded { When::Guarded } else { When::Always };
        }
        let edges = self.edges.iter().map(|edge| petalflow_graph::Edge {
            from: edge.from,
            via: edge.via.clone(),
            to: edge.to,
        });
        Graph {
            nodes: nodes.into(),
            edges: edges.collect(),
            joins: u32::try_from(self.joins.len()).expect("a graph has fewer than 2^32 joins"),
        }
    }

    /// Whether an edge from START was written.
    pub(crate) fn starts(&self) -> bool {
        self.edges.iter().any(|edge| edge.from == Source::Start)
    }
}
