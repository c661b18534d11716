//! The graph in the form the engine walks: every edge resolved to a number.

use std::sync::OnceLock;

use petalflow_graph::{Graph, Source, Target, Via};

use crate::delivery::ItemCodec;
use crate::policy::NodePolicy;
use crate::state::KeySet;

/// What the engine must know of a node beyond the graph.
#[derive(Clone, Debug, Default)]
pub struct NodeSpec {
    /// The names of its routes, in the order of their indexes.
    pub routes: &'static [&'static str],
    /// Whether it takes what an edge delivers.
    pub takes: bool,
    /// Its retries and timeouts.
    pub policy: NodePolicy,
    /// How its item is stored.
    pub item: Option<ItemCodec>,
    /// The keys it reads; without a set, the whole state.
    pub reads: Option<KeySet>,
}

/// Where an edge leads, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeTarget {
    /// Activates the node.
    Node(u32),
    /// Activates the node once per item.
    Each(u32),
    /// Arrives at a side of a join.
    Join { join: u32, side: u32 },
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
    /// Where a failure goes.
    pub(crate) catch: Option<u32>,
    /// Waits until nothing else is active.
    pub(crate) deferred: bool,
    /// Has nothing around it and runs as soon as an edge leads to it.
    pub(crate) fast: bool,
}

/// A join: how many sides it waits for, and where it leads.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinEdges {
    pub(crate) sides: u32,
    pub(crate) out: Vec<EdgeTarget>,
}

/// An `interrupt before` or `interrupt after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The node's place.
    pub node: u32,
    /// Whether the run stops after the node rather than before it.
    pub after: bool,
}

/// A graph wired for the engine.
#[derive(Clone, Debug)]
pub struct ExecutionPlan {
    pub(crate) graph: Graph,
    pub(crate) entry: Vec<EdgeTarget>,
    pub(crate) out_edges: Vec<OutEdges>,
    pub(crate) joins: Vec<JoinEdges>,
    pub(crate) policies: Vec<NodePolicy>,
    /// For the fast path, by node: the one quick node that its plain edges lead to, or `u32::MAX`.
    pub(crate) chain_next: Vec<u32>,
    pub(crate) takes_item: Vec<bool>,
    pub(crate) items: Vec<Option<ItemCodec>>,
    pub(crate) reads: Vec<Option<KeySet>>,
    /// Whether any node is deferred.
    pub(crate) has_deferred: bool,
    /// Where people are asked; guards are known by the place in this list.
    pub(crate) gates: Vec<Gate>,
    pub(crate) routes: Vec<&'static [&'static str]>,
    /// Whether any node needs something from the run, once a run has asked.
    pub(crate) needs_managed: OnceLock<bool>,
}

impl ExecutionPlan {
    /// Wires a graph; `specs` holds what is known of each node, by place.
    ///
    /// The graph is taken as checked: an edge for a route that the node does not have is left out.
    pub fn new(graph: &Graph, specs: &[NodeSpec]) -> Self {
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
            policies: specs.iter().map(|spec| spec.policy.clone()).collect(),
            chain_next: Vec::new(),
            takes_item: specs.iter().map(|spec| spec.takes).collect(),
            items: specs.iter().map(|spec| spec.item).collect(),
            reads: specs.iter().map(|spec| spec.reads).collect(),
            gates: Vec::new(),
            has_deferred: nodes.iter().any(|node| node.deferred),
            routes: specs.iter().map(|spec| spec.routes).collect(),
            needs_managed: OnceLock::new(),
        };
        for (edges, spec) in plan.out_edges.iter_mut().zip(specs) {
            edges.routes.resize_with(spec.routes.len(), Vec::new);
            edges.fast = !edges.deferred && spec.policy.is_none();
        }
        for edge in graph.edges() {
            let target = match edge.to {
                Target::End => EdgeTarget::End,
                Target::Node(node) if edge.via.is_each() => EdgeTarget::Each(node.as_u32()),
                Target::Node(node) => EdgeTarget::Node(node.as_u32()),
                Target::Join(join) => {
                    let sides = &mut plan.joins[join.index()].sides;
                    *sides += 1;
                    EdgeTarget::Join {
                        join: join.as_u32(),
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
                    if let Some(route) = specs[node.index()]
                        .routes
                        .iter()
                        .position(|route| route == name)
                    {
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
            .map(|edges| plan.only_fast_target(&edges.plain).unwrap_or(u32::MAX))
            .collect();
        plan
    }

    /// The same with the flow's interrupts.
    ///
    /// No node of such a graph is fast: the fast path would run past the places where it stops.
    #[must_use]
    pub fn with_gates(mut self, gates: Vec<Gate>) -> Self {
        if !gates.is_empty() {
            self.out_edges
                .iter_mut()
                .for_each(|edges| edges.fast = false);
            self.chain_next.fill(u32::MAX);
        }
        self.gates = gates;
        self
    }

    /// The same with these retries of a node in place of its own.
    pub(crate) fn retrying(&self, node: &str, retry: Vec<crate::policy::Retry>) -> Self {
        let mut plan = self.clone();
        if let Some(place) = plan.index_of(node) {
            plan.policies[place as usize] = NodePolicy::retrying(retry);
            // What is tried again is no longer quick, and nothing leads straight to it.
            plan.out_edges[place as usize].fast = false;
            let chain_next = plan.chain_next.iter_mut();
            chain_next
                .filter(|to| **to == place)
                .for_each(|to| *to = u32::MAX);
        }
        plan
    }

    /// The quick node that these targets alone lead to, if that is so.
    #[inline]
    pub(crate) fn only_fast_target(&self, targets: &[EdgeTarget]) -> Option<u32> {
        match targets {
            [EdgeTarget::Node(node)] if self.out_edges[*node as usize].fast => Some(*node),
            _ => None,
        }
    }

    /// The graph that was wired.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The name under which the node at a place is known in stored checkpoints.
    pub fn stored_name(&self, place: u32) -> &str {
        self.graph
            .nodes()
            .get(place as usize)
            .map_or("", petalflow_graph::Node::stored_name)
    }

    /// The place of the node that is stored under a name.
    #[inline]
    pub(crate) fn index_of_stored(&self, stored: &str) -> Option<u32> {
        let nodes = 0..petalflow_graph::index(self.out_edges.len());
        nodes
            .into_iter()
            .find(|place| self.stored_name(*place) == stored)
    }

    /// What this program calls the node of a stored name: the same, if it has no such node.
    #[inline]
    pub(crate) fn current_name<'a>(&'a self, stored: &'a str) -> &'a str {
        self.index_of_stored(stored)
            .map_or(stored, |place| self.name(place))
    }

    /// Whether the node chooses where the run goes on.
    pub(crate) fn chooses(&self, node: u32) -> bool {
        !self.routes[node as usize].is_empty()
    }

    /// The place of the node of a name.
    #[inline]
    pub(crate) fn index_of(&self, name: &str) -> Option<u32> {
        let mut nodes = 0..petalflow_graph::index(self.out_edges.len());
        nodes.find(|place| self.name(*place) == name)
    }

    /// The name of the node at a place.
    pub(crate) fn name(&self, place: u32) -> &str {
        self.graph
            .nodes()
            .get(place as usize)
            .map_or("", |node| &node.name)
    }
}
