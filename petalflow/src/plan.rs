//! The execution plan: the graph of a flow in the form that the driver uses, with every edge resolved to indices.

use std::sync::OnceLock;

use petalflow_graph::{Graph, JoinIdx, NodeFacts, NodeIdx, Source, Target, Via};

use crate::delivery::ItemCodec;
use crate::policy::NodePolicy;
use crate::policy::Policy;
use crate::state::KeySet;

/// The properties of a node that its type determines. The tables of `flow!`, the builder and the driver use it.
#[derive(Clone, Copy, Debug)]
pub struct NodeSpec {
    /// The properties that the rules use.
    pub facts: NodeFacts<'static>,
    /// For each route, whether it carries a payload.
    pub payloads: &'static [bool],
    /// Whether the node sends items to the targets of `each`.
    pub sends: bool,
    /// The policy of its annotation.
    pub policy: Policy,
    /// The codec of its item.
    pub item: Option<ItemCodec>,
    /// Whether the node may read more keys than it names.
    pub reads_all: bool,
    /// Whether nothing is known of the node, because an error about it was reported.
    pub broken: bool,
}

impl NodeSpec {
    /// A node that reads, writes and chooses nothing.
    pub const NONE: Self = NodeSpec {
        facts: NodeFacts::new(""),
        payloads: &[],
        sends: false,
        policy: Policy::NONE,
        item: None,
        reads_all: false,
        broken: false,
    };
}

/// The end of an edge, and what taking the edge does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeTarget {
    /// Activates the node.
    Node(NodeIdx),
    /// Activates the node once per item.
    Each(NodeIdx),
    /// Arrives at a side of a join.
    Join { join: JoinIdx, side: u32 },
    /// Ends the path.
    End,
}

/// The edges out of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutEdges {
    /// The edges that fire whenever the node has run.
    pub(crate) plain: Vec<EdgeTarget>,
    /// The edges of each route.
    pub(crate) routes: Vec<Vec<EdgeTarget>>,
    /// The node that a failure is delivered to.
    pub(crate) catch: Option<NodeIdx>,
    /// Whether the node waits until nothing else is active.
    pub(crate) deferred: bool,
    /// Whether the fast path can run the node: nothing surrounds it, and it runs as soon as it is activated.
    pub(crate) fast: bool,
}

/// The edges of a join: how many lead to it, and those that lead out of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinEdges {
    pub(crate) sides: u32,
    pub(crate) out: Vec<EdgeTarget>,
}

/// The next node of a chain, or none, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainNext(NodeIdx);

impl ChainNext {
    pub(crate) const NONE: Self = ChainNext(NodeIdx::new(u32::MAX));

    fn new(next: Option<NodeIdx>) -> Self {
        next.map_or(Self::NONE, ChainNext)
    }

    #[inline]
    pub(crate) fn get(self) -> Option<NodeIdx> {
        if self == Self::NONE {
            None
        } else {
            Some(self.0)
        }
    }
}

/// An `interrupt before` or `interrupt after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The node before or after which the run stops.
    pub node: NodeIdx,
    /// Whether the run stops after the node rather than before it.
    pub after: bool,
    /// The keys that its guard reads, as far as they are known.
    pub reads: KeySet,
}

/// The graph of a flow in the form that the driver uses. Lists are indexed by node, except where their documentation names
/// another index.
#[derive(Clone, Debug)]
pub struct ExecutionPlan {
    pub(crate) graph: Graph,
    /// The edges that fire at the start.
    pub(crate) entry: Vec<EdgeTarget>,
    pub(crate) out_edges: Vec<OutEdges>,
    /// By join.
    pub(crate) joins: Vec<JoinEdges>,
    pub(crate) policies: Vec<NodePolicy>,
    /// The fast node that is the only target of the plain edges.
    pub(crate) chain_next: Vec<ChainNext>,
    pub(crate) takes_item: Vec<bool>,
    pub(crate) items: Vec<Option<ItemCodec>>,
    pub(crate) reads: Vec<Option<KeySet>>,
    /// Whether any node is deferred.
    pub(crate) has_deferred: bool,
    /// The interrupts before and after nodes. Guards have the indices of this list.
    pub(crate) gates: Vec<Gate>,
    pub(crate) routes: Vec<&'static [&'static str]>,
    /// Whether any node needs a managed value. Set by the first run.
    pub(crate) needs_managed: OnceLock<bool>,
}

impl ExecutionPlan {
    /// Makes the plan of a graph. `specs` describes its nodes, by index; `policies` has the policies of the graph and of the
    /// nodes together.
    ///
    /// The graph has been checked: an edge for a route that its node does not have is left out.
    pub fn new(graph: &Graph, specs: &[NodeSpec], policies: Vec<NodePolicy>) -> Self {
        let nodes = graph.nodes();
        let mut plan = ExecutionPlan {
            graph: graph.clone(),
            entry: Vec::new(),
            out_edges: nodes
                .iter()
                .map(|node| OutEdges {
                    deferred: node.deferred,
                    ..OutEdges::default()
                })
                .collect(),
            joins: (0..graph.joins).map(|_| JoinEdges::default()).collect(),
            policies,
            chain_next: Vec::new(),
            takes_item: specs.iter().map(|spec| spec.facts.takes_item).collect(),
            items: specs.iter().map(|spec| spec.item).collect(),
            reads: specs
                .iter()
                .map(|spec| (!spec.reads_all).then_some(spec.facts.reads))
                .collect(),
            gates: Vec::new(),
            has_deferred: nodes.iter().any(|node| node.deferred),
            routes: specs.iter().map(|spec| spec.facts.routes).collect(),
            needs_managed: OnceLock::new(),
        };
        for (index, edges) in plan.out_edges.iter_mut().enumerate() {
            edges.routes.resize_with(plan.routes[index].len(), Vec::new);
            edges.fast = !edges.deferred && plan.policies[index].is_none();
        }
        for edge in graph.edges() {
            let target = match edge.to {
                Target::End => EdgeTarget::End,
                Target::Node(node) if edge.via.is_each() => EdgeTarget::Each(node),
                Target::Node(node) => EdgeTarget::Node(node),
                Target::Join(join) => {
                    let sides = &mut plan.joins[join.index()].sides;
                    *sides += 1;
                    EdgeTarget::Join {
                        join,
                        side: *sides - 1,
                    }
                }
            };
            match (edge.from, &edge.via) {
                (Source::Start, _) => plan.entry.push(target),
                (Source::Join(join), _) => plan.joins[join.index()].out.push(target),
                (Source::Node(node), Via::Plain | Via::Each) => {
                    plan.out_edges[node.index()].plain.push(target);
                }
                (Source::Node(node), Via::Route(name) | Via::RouteEach(name)) => {
                    let mut routes = plan.routes[node.index()].iter();
                    if let Some(route) = routes.position(|route| route == name) {
                        plan.out_edges[node.index()].routes[route].push(target);
                    }
                }
                (Source::Node(node), Via::Catch) => {
                    if let EdgeTarget::Node(target) = target {
                        plan.out_edges[node.index()].catch = Some(target);
                    }
                }
            }
        }
        plan.chain_next = plan
            .out_edges
            .iter()
            .map(|edges| ChainNext::new(plan.only_fast_target(&edges.plain)))
            .collect();
        plan
    }

    /// Adds the interrupts of the flow. No node of such a plan is fast: the fast path does not stop between nodes.
    #[must_use]
    pub fn with_gates(mut self, gates: Vec<Gate>) -> Self {
        if !gates.is_empty() {
            self.out_edges
                .iter_mut()
                .for_each(|edges| edges.fast = false);
            self.chain_next.fill(ChainNext::NONE);
        }
        self.gates = gates;
        self
    }

    /// Replaces the retries of a node.
    pub(crate) fn retrying(&self, node: &str, retry: Vec<crate::policy::Retry>) -> Self {
        let mut plan = self.clone();
        if let Some(node) = plan.index_of(node) {
            plan.policies[node.index()] = NodePolicy::retrying(retry);
            // A node with retries is not fast.
            plan.out_edges[node.index()].fast = false;
            let chain_next = plan.chain_next.iter_mut();
            chain_next
                .filter(|next| next.get() == Some(node))
                .for_each(|next| *next = ChainNext::NONE);
        }
        plan
    }

    /// The fast node that is the only one of these targets.
    #[inline]
    pub(crate) fn only_fast_target(&self, targets: &[EdgeTarget]) -> Option<NodeIdx> {
        match targets {
            [EdgeTarget::Node(node)] if self.out_edges[node.index()].fast => Some(*node),
            _ => None,
        }
    }

    /// The graph of the plan.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The name of a node in stored checkpoints.
    pub fn stored_name(&self, node: NodeIdx) -> &str {
        self.graph
            .nodes()
            .get(node.index())
            .map_or("", petalflow_graph::Node::stored_name)
    }

    /// The node with this name in stored checkpoints.
    #[inline]
    pub(crate) fn index_of_stored(&self, stored: &str) -> Option<NodeIdx> {
        self.nodes().find(|node| self.stored_name(*node) == stored)
    }

    /// The name that this program gives to the node with a stored name. The stored name if it has no such node.
    #[inline]
    pub(crate) fn current_name<'a>(&'a self, stored: &'a str) -> &'a str {
        self.index_of_stored(stored)
            .map_or(stored, |node| self.name(node))
    }

    /// Whether the node chooses a route.
    pub(crate) fn chooses(&self, node: NodeIdx) -> bool {
        !self.routes[node.index()].is_empty()
    }

    /// The node with this name.
    #[inline]
    pub(crate) fn index_of(&self, name: &str) -> Option<NodeIdx> {
        self.nodes().find(|node| self.name(*node) == name)
    }

    /// The indices of all nodes.
    #[inline]
    fn nodes(&self) -> impl Iterator<Item = NodeIdx> {
        NodeIdx::all(self.out_edges.len())
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: NodeIdx) -> &str {
        self.graph
            .nodes()
            .get(node.index())
            .map_or("", |node| &node.name)
    }
}
