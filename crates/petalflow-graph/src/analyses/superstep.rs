//! One superstep: the activations of each task, and the next state.

use super::outcomes::{Outcome, Pick, Tokens, TokensOf};
use crate::collections::SortedMap;
use crate::edges::{EdgesBySource, choose};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx, to_u32};
use crate::skips::SkippableJoin;
use crate::sorted::{contains, insert, sort};

/// How the routes of a node are picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routes {
    /// Exactly one, or any number if [`Node::many`](crate::Node::many) is set. A node that runs on the items of `each` picks for
    /// every item.
    AsDeclared,
    /// As [`AsDeclared`](Routes::AsDeclared). In addition, a node that can receive several deliveries in one superstep (payloads
    /// of routes, failures) picks, or fails, for every delivery. A node that takes items does this.
    PerDelivery,
    /// Any number by every node, for every delivery. For a caller that does not know which nodes pick several routes.
    Any,
}

/// A graph, prepared for the exploration.
pub(crate) struct Shape {
    pub(crate) nodes: Vec<Shaped>,
    /// The sides of all joins: join and source.
    pub(crate) sides: Vec<(JoinIdx, Source)>,
    /// The number of sides of each join.
    pub(crate) widths: Vec<u32>,
    /// The activations of each join.
    outs: Vec<Tokens>,
    /// The joins of merges. The index of a side is its place among the sides of its join in `sides`.
    skippable: Vec<SkippableJoin>,
    /// The outcomes of START.
    pub(crate) starts: Vec<Outcome>,
    /// Whether all outcomes are listed. A node with too many choices has none.
    pub(crate) complete: bool,
}

pub(crate) struct Shaped {
    pub(crate) deferred: bool,
    /// The outcomes of a task.
    pub(crate) outcomes: Vec<Outcome>,
    /// The activations that replace the node if it is sent an empty list.
    without_items: Tokens,
}

/// The state of a run between two supersteps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The nodes of the next superstep, ascending.
    pub(crate) frontier: Vec<NodeIdx>,
    /// The sides that have arrived at joins, ascending.
    pub(crate) arrived: Vec<u32>,
    /// The deferred nodes that have been activated, ascending.
    pub(crate) pending: Vec<NodeIdx>,
}

impl Shape {
    /// Prepares a graph; `several` marks the nodes that can run more than once in a superstep.
    pub(crate) fn of(graph: &Graph, routes: Routes, several: &[bool]) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut shape = Shape {
            nodes: Vec::with_capacity(graph.nodes.len()),
            sides: Vec::new(),
            widths: vec![0; graph.joins as usize],
            outs: Vec::new(),
            skippable: SkippableJoin::all(graph),
            starts: Vec::new(),
            complete: true,
        };
        let mut sides = SortedMap::new();
        for edge in &*graph.edges {
            if let Target::Join(join) = edge.to {
                let new = to_u32(shape.sides.len());
                if *sides.get_or_insert((join, edge.from), new) == new {
                    shape.sides.push((join, edge.from));
                    shape.widths[join.index()] += 1;
                }
            }
        }
        let tokens = TokensOf {
            nodes: to_u32(graph.nodes.len()),
            sides,
        };
        for (i, node) in graph.nodes.iter().enumerate() {
            let pick = match routes {
                Routes::Any => Pick::Any,
                _ if node.many => Pick::Any,
                // Every task picks one route, so together they pick at least one.
                _ if several[i] => Pick::Some,
                _ => Pick::One,
            };
            let outcomes = tokens.outcomes(&edges.nodes[i], pick, several[i]);
            shape.complete &= outcomes.is_some();
            let without_items = if choose(&edges.nodes[i]) {
                Vec::new()
            } else {
                tokens.without_items(&edges.nodes[i])
            };
            shape.nodes.push(Shaped {
                deferred: node.deferred,
                outcomes: outcomes.unwrap_or_default(),
                without_items,
            });
        }
        for out in &edges.joins {
            shape.outs.push(tokens.with_items(out));
        }
        let starts = tokens.outcomes(&edges.start, Pick::One, false);
        shape.complete &= starts.is_some();
        shape.starts = starts.unwrap_or_default();
        shape
    }

    fn token(&self, token: u32) -> Token {
        let nodes = to_u32(self.nodes.len());
        match token {
            token if token < nodes => Token::Node(NodeIdx::new(token)),
            token if token < 2 * nodes => Token::EmptyList(NodeIdx::new(token - nodes)),
            token => Token::Side(token - 2 * nodes),
        }
    }

    /// The state after a superstep with these tokens.
    ///
    /// The order of the tokens has no influence: an arrived side stays, and a list is empty or not independently of the other
    /// tokens.
    pub(crate) fn close(&self, tokens: &[u32], before: &State) -> State {
        let mut next = State {
            frontier: Vec::new(),
            arrived: before.arrived.clone(),
            pending: before.pending.clone(),
        };
        let mut counts = SortedMap::new();
        for side in &next.arrived {
            *counts.get_or_insert(self.sides[*side as usize].0, 0) += 1;
        }
        let (mut fired, mut seen) = (Vec::new(), Vec::new());
        let mut queue = tokens.to_vec();
        loop {
            let Some(token) = queue.pop() else {
                match self.next_skipped(&next, &fired) {
                    Some(join) if insert(&mut fired, join) => {
                        queue.extend_from_slice(&self.outs[join.index()]);
                        continue;
                    }
                    _ => break,
                }
            };
            if !insert(&mut seen, token) {
                continue;
            }
            match self.token(token) {
                Token::Node(node) if self.nodes[node.index()].deferred => {
                    insert(&mut next.pending, node);
                }
                Token::Node(node) => next.frontier.push(node),
                Token::EmptyList(node) => {
                    // If another sender sends items, the node runs, and its own edges fire.
                    if !contains(tokens, &node.as_u32()) && !contains(&before.pending, &node) {
                        queue.extend_from_slice(&self.nodes[node.index()].without_items);
                    }
                }
                Token::Side(side) => {
                    let (join, _) = self.sides[side as usize];
                    let count = counts.get_or_insert(join, 0);
                    if insert(&mut next.arrived, side) {
                        *count += 1;
                    }
                    if *count == self.widths[join.index()] && insert(&mut fired, join) {
                        queue.extend_from_slice(&self.outs[join.index()]);
                    }
                }
            }
        }
        if !fired.is_empty() {
            let arrived = std::mem::take(&mut next.arrived);
            for side in &arrived {
                if !contains(&fired, &self.sides[*side as usize].0) {
                    next.arrived.push(*side);
                }
            }
        }
        sort(&mut next.frontier);
        if next.frontier.is_empty() {
            next.frontier = std::mem::take(&mut next.pending);
        }
        next
    }

    /// The join that fires without its missing sides.
    fn next_skipped(&self, next: &State, fired: &[JoinIdx]) -> Option<JoinIdx> {
        if self.skippable.is_empty() || next.arrived.is_empty() {
            return None;
        }
        let mut sides: SortedMap<JoinIdx, Vec<bool>> = SortedMap::new();
        for side in &next.arrived {
            sides.get_or_insert(self.sides[*side as usize].0, Vec::new());
        }
        for (side, (join, _)) in self.sides.iter().enumerate() {
            if let Some(sides) = sides.get_mut(join) {
                sides.push(contains(&next.arrived, &to_u32(side)));
            }
        }
        let waiting = |join: JoinIdx| {
            let sides = sides.get(&join)?;
            (!contains(fired, &join)).then_some(&sides[..])
        };
        let active = next.frontier.iter().chain(&next.pending).copied();
        SkippableJoin::next(&self.skippable, waiting, active)
    }
}

enum Token {
    Node(NodeIdx),
    /// The node was sent an empty list.
    EmptyList(NodeIdx),
    /// A side arrived.
    Side(u32),
}

/// Whether several tasks of the node in one superstep can do more than one task: choose different routes, or fail.
pub(crate) fn diverges(graph: &Graph, node: NodeIdx, routes: Routes) -> bool {
    let many = routes == Routes::Any || graph.nodes[node.index()].many;
    let mut first = None;
    for edge in &*graph.edges {
        let diverges = match edge.via.route() {
            _ if edge.from != Source::Node(node) => false,
            Some(route) => !many && *first.get_or_insert(route) != route,
            None => edge.via == Via::Catch,
        };
        if diverges {
            return true;
        }
    }
    false
}
