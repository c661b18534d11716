//! The graph in the form the engine walks: every edge resolved to a number.

use std::sync::OnceLock;

use petalflow_graph::{Graph, Source, Target, Via};

use crate::node::{ItemCodec, Node, NodePolicy, Output, Policy, Routing};
use crate::{KeySet, State};

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

impl NodeSpec {
    /// What the node's type says, under the flow's own policy.
    pub fn of<S: State, N: Node<S>>(policy: Policy) -> Self {
        NodeSpec {
            routes: <N::Output as Output<S>>::Routing::NAMES,
            takes: N::TAKES_ITEM,
            policy: policy.or(N::POLICY).into(),
            item: N::ITEM_CODEC,
            reads: (!N::READS_ALL).then_some(N::READS),
        }
    }
}

/// Where an edge leads, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Activates the node.
    Node(u32),
    /// Activates the node once per item.
    Each(u32),
    /// Arrives at a side of a join.
    Join { join: u32, side: u32 },
    /// Ends the path.
    End,
}

/// The ways out of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// The edges that fire whenever the node has run.
    pub(crate) plain: Vec<Hop>,
    /// The edges of each route.
    pub(crate) routes: Vec<Vec<Hop>>,
    /// Where a failure goes.
    pub(crate) catch: Option<u32>,
    /// Waits until nothing else is active.
    pub(crate) deferred: bool,
    /// Has nothing around it and runs as soon as an edge leads to it.
    pub(crate) quick: bool,
}

/// A join: how many sides it waits for, and where it leads.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinWays {
    pub(crate) sides: u32,
    pub(crate) out: Vec<Hop>,
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
    pub(crate) entry: Vec<Hop>,
    pub(crate) ways: Vec<Ways>,
    pub(crate) joins: Vec<JoinWays>,
    pub(crate) policies: Vec<NodePolicy>,
    /// For the fast path, by node: the one quick node that its plain edges lead to, or `u32::MAX`.
    pub(crate) straight: Vec<u32>,
    pub(crate) takes: Vec<bool>,
    pub(crate) items: Vec<Option<ItemCodec>>,
    pub(crate) reads: Vec<Option<KeySet>>,
    /// Whether any node is deferred.
    pub(crate) defers: bool,
    /// Where people are asked; guards are known by the place in this list.
    pub(crate) gates: Vec<Gate>,
    pub(crate) routes: Vec<&'static [&'static str]>,
    /// Whether any node needs something from the run, once a run has asked.
    pub(crate) needs: OnceLock<bool>,
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
            ways: nodes
                .iter()
                .map(|node| Ways {
                    deferred: node.deferred,
                    ..Ways::default()
                })
                .collect(),
            joins: (0..graph.joins).map(|_| JoinWays::default()).collect(),
            policies: specs.iter().map(|spec| spec.policy.clone()).collect(),
            straight: Vec::new(),
            takes: specs.iter().map(|spec| spec.takes).collect(),
            items: specs.iter().map(|spec| spec.item).collect(),
            reads: specs.iter().map(|spec| spec.reads).collect(),
            gates: Vec::new(),
            defers: nodes.iter().any(|node| node.deferred),
            routes: specs.iter().map(|spec| spec.routes).collect(),
            needs: OnceLock::new(),
        };
        for (ways, spec) in plan.ways.iter_mut().zip(specs) {
            ways.routes.resize_with(spec.routes.len(), Vec::new);
            ways.quick = !ways.deferred && spec.policy.is_none();
        }
        for edge in graph.edges() {
            let hop = match edge.to {
                Target::End => Hop::End,
                Target::Node(node) if edge.via.is_each() => Hop::Each(node),
                Target::Node(node) => Hop::Node(node),
                Target::Join(join) => {
                    let sides = &mut plan.joins[join as usize].sides;
                    *sides += 1;
                    Hop::Join {
                        join,
                        side: *sides - 1,
                    }
                }
            };
            match (edge.from, &edge.via) {
                (Source::Start, _) => plan.entry.push(hop),
                (Source::Join(join), _) => plan.joins[join as usize].out.push(hop),
                (Source::Node(node), Via::Plain | Via::Each) => {
                    plan.ways[node as usize].plain.push(hop);
                }
                (Source::Node(node), Via::Route(name) | Via::RouteEach(name)) => {
                    if let Some(route) = specs[node as usize]
                        .routes
                        .iter()
                        .position(|route| route == name)
                    {
                        plan.ways[node as usize].routes[route].push(hop);
                    }
                }
                (Source::Node(node), Via::Catch) => {
                    if let Hop::Node(target) = hop {
                        plan.ways[node as usize].catch = Some(target);
                    }
                }
            }
        }
        plan.straight = plan
            .ways
            .iter()
            .map(|ways| plan.lone(&ways.plain).unwrap_or(u32::MAX))
            .collect();
        plan
    }

    /// The same with the flow's interrupts.
    ///
    /// No node of such a graph is quick: the fast path would run past the places where it stops.
    #[must_use]
    pub fn with_gates(mut self, gates: Vec<Gate>) -> Self {
        if !gates.is_empty() {
            self.ways.iter_mut().for_each(|ways| ways.quick = false);
            self.straight.fill(u32::MAX);
        }
        self.gates = gates;
        self
    }

    /// The same with these retries of a node in place of its own.
    pub(crate) fn retrying(&self, node: &str, retry: Vec<crate::Retry>) -> Self {
        let mut plan = self.clone();
        if let Some(place) = plan.named(node) {
            plan.policies[place as usize] = NodePolicy::retrying(retry);
            // What is tried again is no longer quick, and nothing leads straight to it.
            plan.ways[place as usize].quick = false;
            let straight = plan.straight.iter_mut();
            straight
                .filter(|to| **to == place)
                .for_each(|to| *to = u32::MAX);
        }
        plan
    }

    /// The quick node that these hops alone lead to, if that is so.
    #[inline]
    pub(crate) fn lone(&self, hops: &[Hop]) -> Option<u32> {
        match hops {
            [Hop::Node(node)] if self.ways[*node as usize].quick => Some(*node),
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
    pub(crate) fn place_of(&self, stored: &str) -> Option<u32> {
        let nodes = 0..petalflow_graph::index(self.ways.len());
        nodes
            .into_iter()
            .find(|place| self.stored_name(*place) == stored)
    }

    /// What this program calls the node of a stored name: the same, if it has no such node.
    #[inline]
    pub(crate) fn known_as<'a>(&'a self, stored: &'a str) -> &'a str {
        self.place_of(stored)
            .map_or(stored, |place| self.name(place))
    }

    /// Whether the node chooses where the run goes on.
    pub(crate) fn chooses(&self, node: u32) -> bool {
        !self.routes[node as usize].is_empty()
    }

    /// The place of the node of a name.
    #[inline]
    pub(crate) fn named(&self, name: &str) -> Option<u32> {
        let mut nodes = 0..petalflow_graph::index(self.ways.len());
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
