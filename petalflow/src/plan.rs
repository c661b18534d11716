//! The execution plan: the graph of a flow in the form that the driver uses, with every edge resolved to indices.

use std::sync::OnceLock;

#[cfg(feature = "builder")]
use petalflow_graph::SkippableJoin;
use petalflow_graph::{Edge, Graph, JoinIdx, NodeFacts, NodeIdx, RouteIdx, Source, Target, Via};

use crate::delivery::ItemCodec;
use crate::policy::NodePolicy;
use crate::policy::Policy;
use crate::state::KeySet;

/// The properties of a node that its type determines. The tables of `flow!`, the builder and the driver use it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties of a node"
)]
pub struct NodeSpec {
    /// The properties that the rules use.
    pub facts: NodeFacts<'static>,
    /// For each route, whether it carries a payload.
    pub payloads: &'static [bool],
    /// Whether the node sends items to the targets of `each`.
    pub sends: bool,
    /// Whether the names of its routes are known at run time only.
    pub named: bool,
    /// The policy of its annotation.
    pub policy: Policy,
    /// The codec of its item.
    pub item: Option<ItemCodec>,
    /// Whether the node may read more keys than it names.
    pub reads_all: bool,
    /// Whether an error about it was reported, so that it is unknown whether it takes or sends items.
    pub broken: bool,
}

impl NodeSpec {
    /// A node that reads, writes and chooses nothing.
    pub const NONE: Self = NodeSpec {
        facts: NodeFacts::new(""),
        payloads: &[],
        sends: false,
        named: false,
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

/// The edges of a join: the sides from which edges lead to it, and the edges that lead out of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinEdges {
    pub(crate) sides: Vec<Source>,
    pub(crate) out: Vec<EdgeTarget>,
}

impl JoinEdges {
    /// The index of a side. Adds it if no edge has come from there.
    fn side(&mut self, from: Source) -> u32 {
        let known = self.sides.iter().position(|side| *side == from);
        let side = known.unwrap_or(self.sides.len());
        if known.is_none() {
            self.sides.push(from);
        }
        petalflow_graph::to_u32(side)
    }
}

/// The names of the routes of a node.
#[derive(Clone, Debug)]
pub(crate) enum RouteNames {
    /// Those of its type.
    Static(&'static [&'static str]),
    /// Those that the builder was given.
    #[cfg(feature = "builder")]
    Named(std::sync::Arc<[String]>),
}

impl RouteNames {
    pub(crate) fn len(&self) -> usize {
        match self {
            RouteNames::Static(names) => names.len(),
            #[cfg(feature = "builder")]
            RouteNames::Named(names) => names.len(),
        }
    }

    pub(crate) fn all(&self) -> Vec<&str> {
        RouteIdx::all(self.len())
            .map(|route| self.name(route))
            .collect()
    }

    /// The name of a route. Empty if the node has no such route.
    pub(crate) fn name(&self, route: RouteIdx) -> &str {
        match self {
            RouteNames::Static(names) => names.get(route.index()).copied(),
            #[cfg(feature = "builder")]
            RouteNames::Named(names) => names.get(route.index()).map(String::as_str),
        }
        .unwrap_or_default()
    }

    pub(crate) fn index(&self, name: &str) -> Option<u32> {
        let mut routes = RouteIdx::all(self.len());
        routes
            .find(|route| self.name(*route) == name)
            .map(RouteIdx::as_u32)
    }
}

/// The next node of a chain, or none, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainNext(NodeIdx);

impl ChainNext {
    pub(crate) const NONE: Self = ChainNext(NodeIdx::new(u32::MAX));

    fn new(next: Option<NodeIdx>) -> Self {
        next.map_or(Self::NONE, ChainNext)
    }

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
pub struct InterruptPoint {
    /// The node before or after which the run stops.
    pub node: NodeIdx,
    /// Whether the run stops after the node rather than before it.
    pub after: bool,
    /// The keys that its guard reads. `None` if they are not known, because it takes the whole state.
    pub reads: Option<KeySet>,
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
    /// The joins that do not wait for sides that nothing can reach.
    #[cfg(feature = "builder")]
    pub(crate) skippable: Vec<SkippableJoin>,
    specs: Vec<NodeSpec>,
    pub(crate) policies: Vec<NodePolicy>,
    /// The fast node that is the only target of the plain edges.
    pub(crate) chain_next: Vec<ChainNext>,
    /// Whether any node is deferred.
    pub(crate) has_deferred: bool,
    /// The interrupts before and after nodes. Guards have the indices of this list.
    pub(crate) interrupt_points: Vec<InterruptPoint>,
    pub(crate) routes: Vec<RouteNames>,
    /// Whether any node needs a managed value. Set by the first run.
    needs_managed: OnceLock<bool>,
}

/// The names of nodes for readers of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeNames<'a> {
    /// The names that a program gives to them.
    Current(&'a ExecutionPlan),
    /// The names in storage, because the program is not known.
    Stored,
}

impl<'a> NodeNames<'a> {
    /// The name of the node with a stored name.
    pub(crate) fn of(self, stored: &'a str) -> &'a str {
        match self {
            NodeNames::Current(plan) => plan.current_name(stored),
            NodeNames::Stored => stored,
        }
    }
}

impl ExecutionPlan {
    /// Makes the plan of a graph. `specs` describes its nodes, by index; `policies` has the policies of the graph and of the
    /// nodes together.
    ///
    /// The graph has been checked: an edge for a route that its node does not have is left out.
    pub fn new(graph: Graph, specs: Vec<NodeSpec>, policies: Vec<NodePolicy>) -> Self {
        let mut routes = Vec::with_capacity(specs.len());
        for spec in &specs {
            routes.push(RouteNames::Static(spec.facts.routes));
        }
        Self::with_routes(graph, specs, policies, routes)
    }

    /// As [`new`](Self::new), with these names of routes.
    pub(crate) fn with_routes(
        graph: Graph,
        specs: Vec<NodeSpec>,
        policies: Vec<NodePolicy>,
        routes: Vec<RouteNames>,
    ) -> Self {
        let mut plan = ExecutionPlan {
            entry: Vec::new(),
            out_edges: Vec::with_capacity(specs.len()),
            joins: Vec::with_capacity(graph.joins as usize),
            #[cfg(feature = "builder")]
            skippable: Vec::new(),
            specs,
            policies,
            chain_next: Vec::new(),
            interrupt_points: Vec::new(),
            has_deferred: false,
            routes,
            needs_managed: OnceLock::new(),
            graph,
        };
        for (index, node) in plan.graph.nodes().iter().enumerate() {
            plan.has_deferred |= node.deferred;
            let mut edges = OutEdges {
                deferred: node.deferred,
                fast: !node.deferred && plan.policies[index].is_bare(),
                ..OutEdges::default()
            };
            for _ in 0..plan.routes[index].len() {
                edges.routes.push(Vec::new());
            }
            plan.out_edges.push(edges);
        }
        for _ in 0..plan.graph.joins {
            plan.joins.push(JoinEdges::default());
        }
        plan.add_edges();
        plan.link_chains();
        plan
    }

    /// Adds each edge to where it begins, and the sides of the joins.
    fn add_edges(&mut self) {
        // Moved out, because the other fields change.
        let graph = std::mem::take(&mut self.graph);
        for edge in graph.edges() {
            let target = match edge.to {
                Target::End => EdgeTarget::End,
                Target::Node(node) if edge.via.is_each() => EdgeTarget::Each(node),
                Target::Node(node) => EdgeTarget::Node(node),
                Target::Join(join) => {
                    let side = self.joins[join.index()].side(edge.from);
                    EdgeTarget::Join { join, side }
                }
            };
            self.add_edge(edge, target);
        }
        self.graph = graph;
    }

    fn add_edge(&mut self, edge: &Edge, target: EdgeTarget) {
        match (edge.from, &edge.via) {
            (Source::Start, _) => self.entry.push(target),
            (Source::Join(join), _) => self.joins[join.index()].out.push(target),
            (Source::Node(node), Via::Plain | Via::Each) => {
                self.out_edges[node.index()].plain.push(target);
            }
            (Source::Node(node), Via::Route(name) | Via::RouteEach(name)) => {
                if let Some(route) = self.routes[node.index()].index(name) {
                    self.out_edges[node.index()].routes[route as usize].push(target);
                }
            }
            (Source::Node(node), Via::Catch) => {
                if let EdgeTarget::Node(target) = target {
                    self.out_edges[node.index()].catch = Some(target);
                }
            }
        }
    }

    fn link_chains(&mut self) {
        self.chain_next.clear();
        for edges in &self.out_edges {
            let next = self.only_fast_target(&edges.plain);
            self.chain_next.push(ChainNext::new(next));
        }
    }

    /// Adds the joins of merges. A node that chooses or fails can put a side out of reach, so it is not fast: the planner runs
    /// after it.
    #[cfg(feature = "builder")]
    pub(crate) fn with_skippable(mut self, joins: Vec<SkippableJoin>) -> Self {
        if !joins.is_empty() {
            let out_edges = self.out_edges.iter_mut();
            out_edges.for_each(|edges| {
                edges.fast &= edges.routes.is_empty() && edges.catch.is_none();
            });
            self.link_chains();
        }
        self.skippable = joins;
        self
    }

    /// Adds the interrupts of the flow. No node of such a plan is fast: the fast path does not stop between nodes.
    #[must_use]
    pub fn with_interrupt_points(mut self, interrupt_points: Vec<InterruptPoint>) -> Self {
        if !interrupt_points.is_empty() {
            self.out_edges
                .iter_mut()
                .for_each(|edges| edges.fast = false);
            self.chain_next.fill(ChainNext::NONE);
        }
        self.interrupt_points = interrupt_points;
        self
    }

    /// Adds interrupts before and after the nodes of these names.
    pub(crate) fn with_interrupts_at(mut self, before: &[&str], after: &[&str]) -> Self {
        let mut interrupt_points = std::mem::take(&mut self.interrupt_points);
        for (names, after) in [(before, false), (after, true)] {
            let nodes = names.iter().filter_map(|name| self.index_of(name));
            interrupt_points.extend(nodes.map(|node| InterruptPoint {
                node,
                after,
                reads: Some(KeySet::NONE),
            }));
        }
        self.with_interrupt_points(interrupt_points)
    }

    /// Replaces the retries of a node.
    pub(crate) fn retrying(mut self, node: &str, retry: Vec<crate::policy::Retry>) -> Self {
        if let Some(node) = self.index_of(node) {
            self.policies[node.index()].set_retries(retry);
            // A node with retries is not fast.
            self.out_edges[node.index()].fast = false;
            self.link_chains();
        }
        self
    }

    /// The fast node that is the only one of these targets.
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
    pub(crate) fn index_of_stored(&self, stored: &str) -> Option<NodeIdx> {
        self.nodes().find(|node| self.stored_name(*node) == stored)
    }

    /// The name that this program gives to the node with a stored name. The stored name if it has no such node.
    pub(crate) fn current_name<'a>(&'a self, stored: &'a str) -> &'a str {
        self.index_of_stored(stored)
            .map_or(stored, |node| self.name(node))
    }

    /// Whether any node needs a managed value. The first run asks.
    pub(crate) fn needs_managed(&self, ask: &dyn Fn() -> bool) -> bool {
        *self.needs_managed.get_or_init(ask)
    }

    /// Whether the node chooses a route.
    pub(crate) fn chooses(&self, node: NodeIdx) -> bool {
        self.routes[node.index()].len() > 0
    }

    pub(crate) fn spec(&self, node: NodeIdx) -> &NodeSpec {
        &self.specs[node.index()]
    }

    /// The names of the routes of a node.
    pub(crate) fn route_names(&self, node: NodeIdx) -> Vec<&str> {
        self.routes[node.index()].all()
    }

    /// Whether the node takes an item.
    pub(crate) fn takes_item(&self, node: NodeIdx) -> bool {
        self.specs[node.index()].facts.takes_item
    }

    /// The codec of the item that the node takes.
    pub(crate) fn item(&self, node: NodeIdx) -> Option<ItemCodec> {
        self.specs[node.index()].item
    }

    /// The keys that the node reads. `None` if it may read others than it names.
    pub(crate) fn reads(&self, node: NodeIdx) -> Option<KeySet> {
        let spec = &self.specs[node.index()];
        (!spec.reads_all).then_some(spec.facts.reads)
    }

    /// The node with this name.
    pub(crate) fn index_of(&self, name: &str) -> Option<NodeIdx> {
        self.nodes().find(|node| self.name(*node) == name)
    }

    /// The indices of all nodes.
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
