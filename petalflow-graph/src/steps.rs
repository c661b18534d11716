//! One superstep, abstractly: what a node's run may set off, and which state follows from it.

use crate::edges::{EdgesBySource, choose};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx, to_u32};
use crate::outcomes::{Outcome, Pick, Tokens, TokensOf};
use crate::sorted::{SortedMap, SortedSet, insert};

/// How the routes of a node are picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routes {
    /// Exactly one, or any number where [`Node::many`](crate::Node::many) says so; a node that runs on the items of `each`
    /// picks for every item.
    AsDeclared,
    /// The same, and a node that can be delivered to more than once in a superstep (payloads of routes, failures) picks, or
    /// fails, for every delivery: what happens if it takes items.
    PerDelivery,
    /// Any number by every node, for every delivery: for a caller that does not know yet which nodes pick several.
    Any,
}

/// A graph prepared for stepping.
pub(crate) struct Shape {
    pub(crate) nodes: Vec<Shaped>,
    /// The sides of all joins: join and source.
    pub(crate) sides: Vec<(JoinIdx, Source)>,
    /// How many sides each join has.
    pub(crate) widths: Vec<u32>,
    /// What a join sets off.
    outs: Vec<Tokens>,
    /// What START may set off.
    pub(crate) starts: Vec<Outcome>,
    /// Whether all choices are listed; a node with very many has none.
    pub(crate) complete: bool,
}

pub(crate) struct Shaped {
    pub(crate) deferred: bool,
    /// Each way a run can go.
    pub(crate) outcomes: Vec<Outcome>,
    /// What is set off in its place when it was sent no items.
    done: Tokens,
}

/// What a run waits for and what it does next, between two supersteps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The nodes of the next superstep, ascending.
    pub(crate) frontier: Vec<NodeIdx>,
    /// The sides that have arrived at joins, ascending.
    pub(crate) arrived: Vec<u32>,
    /// Deferred nodes that have been triggered, ascending.
    pub(crate) pending: Vec<NodeIdx>,
}

impl Shape {
    /// `several` says which nodes can run more than once in a superstep.
    #[inline]
    pub(crate) fn of(graph: &Graph, routes: Routes, several: &[bool]) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut shape = Shape {
            nodes: Vec::with_capacity(graph.nodes.len()),
            sides: Vec::new(),
            widths: vec![0; graph.joins as usize],
            outs: Vec::new(),
            starts: Vec::new(),
            complete: true,
        };
        let mut sides = SortedMap::new();
        for edge in &*graph.edges {
            if let Target::Join(join) = edge.to {
                sides.get_or((join, edge.from), || {
                    shape.sides.push((join, edge.from));
                    shape.widths[join.index()] += 1;
                    to_u32(shape.sides.len() - 1)
                });
            }
        }
        let tokens = TokensOf {
            nodes: to_u32(graph.nodes.len()),
            sides,
        };
        for (place, node) in graph.nodes.iter().enumerate() {
            let pick = match routes {
                Routes::Any => Pick::Any,
                _ if node.many => Pick::Any,
                // Every run picks one route: together they pick at least one.
                _ if several[place] => Pick::Some,
                _ => Pick::One,
            };
            let outcomes = tokens.outcomes(&edges.nodes[place], pick, several[place]);
            shape.complete &= outcomes.is_some();
            let done = if choose(&edges.nodes[place]) {
                Vec::new()
            } else {
                tokens.without_items(&edges.nodes[place])
            };
            shape.nodes.push(Shaped {
                deferred: node.deferred,
                outcomes: outcomes.unwrap_or_default(),
                done,
            });
        }
        shape.outs = edges
            .joins
            .iter()
            .map(|edges| tokens.with_items(edges))
            .collect();
        let starts = tokens.outcomes(&edges.start, Pick::One, false);
        shape.complete &= starts.is_some();
        shape.starts = starts.unwrap_or_default();
        shape
    }

    #[inline]
    fn token(&self, token: u32) -> Token {
        let nodes = to_u32(self.nodes.len());
        match token {
            token if token < nodes => Token::Node(NodeIdx::new(token)),
            token if token < 2 * nodes => Token::Nothing(NodeIdx::new(token - nodes)),
            token => Token::Side(token - 2 * nodes),
        }
    }

    /// The state after a superstep that set off these tokens.
    ///
    /// The order in which the tokens are looked at does not matter: a side only ever arrives, and whether a batch is empty
    /// depends only on what the nodes themselves set off.
    #[inline]
    pub(crate) fn close(&self, tokens: &[u32], before: &State) -> State {
        let mut next = State {
            frontier: Vec::new(),
            arrived: before.arrived.clone(),
            pending: before.pending.clone(),
        };
        let mut counts = SortedMap::new();
        for &side in &next.arrived {
            *counts.get_or(self.sides[side as usize].0, || 0) += 1;
        }
        let mut fired = SortedSet::new();
        let mut seen = SortedSet::new();
        let mut queue = tokens.to_vec();
        while let Some(token) = queue.pop() {
            if !seen.insert(token) {
                continue;
            }
            match self.token(token) {
                Token::Node(node) if self.nodes[node.index()].deferred => {
                    insert(&mut next.pending, node);
                }
                Token::Node(node) => next.frontier.push(node),
                Token::Nothing(node) => {
                    // Another sender did send items: the batch runs, and its end sets off what follows.
                    if tokens.binary_search(&node.as_u32()).is_err()
                        && before.pending.binary_search(&node).is_err()
                    {
                        queue.extend(&self.nodes[node.index()].done);
                    }
                }
                Token::Side(side) => {
                    let (join, _) = self.sides[side as usize];
                    if next.arrived.binary_search(&side).is_err() {
                        insert(&mut next.arrived, side);
                        *counts.get_or(join, || 0) += 1;
                    }
                    if counts[&join] == self.widths[join.index()] && fired.insert(join) {
                        queue.extend(&self.outs[join.index()]);
                    }
                }
            }
        }
        if !fired.is_empty() {
            next.arrived
                .retain(|&side| !fired.contains(&self.sides[side as usize].0));
        }
        next.frontier.sort_unstable();
        if next.frontier.is_empty() {
            next.frontier = std::mem::take(&mut next.pending);
        }
        next
    }
}

enum Token {
    Node(NodeIdx),
    /// The node was sent an empty batch.
    Nothing(NodeIdx),
    /// A side arrived.
    Side(u32),
}

/// Whether it matters how often the node runs in one superstep: runs that choose, or fail, can go different ways.
#[inline]
pub(crate) fn diverges(graph: &Graph, node: NodeIdx, routes: Routes) -> bool {
    let many = routes == Routes::Any || graph.nodes[node.index()].many;
    let mut first = None;
    graph.edges.iter().any(|edge| match edge.via.route() {
        _ if edge.from != Source::Node(node) => false,
        Some(route) => !many && *first.get_or_insert(route) != route,
        None => edge.via == Via::Catch,
    })
}
