//! One superstep: the activations of each task, and the next state.

use std::collections::{BTreeMap, BTreeSet};

use super::outcomes::{Outcome, Pick, Tokens, TokensOf};
use super::work::{TooMuchWork, Work};
use crate::edges::{EdgesBySource, catch, choose, routes};
use crate::graph::{Graph, Source, Target};
use crate::idx::{JoinIdx, NodeIdx, to_u32};
use crate::skips::SkippableJoin;

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
    /// For each join its places in [`sides`](Self::sides), ascending.
    pub(crate) sides_of: Vec<Vec<u32>>,
    /// The activations of each join.
    outs: Vec<Tokens>,
    /// The joins of merges.
    skippable: Vec<SkippableJoin>,
    /// The outcomes of START.
    pub(crate) starts: Vec<Outcome>,
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
    pub(crate) fn of(
        graph: &Graph,
        routes: Routes,
        several: &[bool],
        work: &mut Work,
    ) -> Result<Self, TooMuchWork> {
        let edges = EdgesBySource::of(graph);
        let mut tokens = TokensOf {
            nodes: to_u32(graph.nodes.len()),
            sides: BTreeMap::new(),
        };
        let mut sides = Vec::new();
        let mut sides_of = vec![Vec::new(); graph.joins as usize];
        for edge in graph.edges() {
            if let Target::Join(join) = edge.to {
                tokens.sides.entry((join, edge.from)).or_insert_with(|| {
                    let new = to_u32(sides.len());
                    sides.push((join, edge.from));
                    sides_of[join.index()].push(new);
                    new
                });
            }
        }
        let mut nodes = Vec::with_capacity(graph.nodes.len());
        for (i, node) in graph.nodes.iter().enumerate() {
            let pick = match routes {
                Routes::Any => Pick::Any,
                _ if node.many => Pick::Any,
                // Every task picks one route, so together they pick at least one.
                _ if several[i] => Pick::Some,
                _ => Pick::One,
            };
            let out = &edges.nodes[i];
            nodes.push(Shaped {
                deferred: node.deferred,
                outcomes: tokens.outcomes(out, pick, several[i], work)?,
                without_items: if choose(out) {
                    Vec::new()
                } else {
                    tokens.without_items(out)
                },
            });
        }
        Ok(Shape {
            nodes,
            sides,
            sides_of,
            outs: edges
                .joins
                .iter()
                .map(|out| tokens.with_items(out))
                .collect(),
            skippable: SkippableJoin::all(graph),
            starts: tokens.outcomes(&edges.start, Pick::One, false, work)?,
        })
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
    pub(crate) fn close(
        &self,
        tokens: &[u32],
        before: &State,
        work: &mut Work,
    ) -> Result<State, TooMuchWork> {
        work.spend(tokens.len() + before.arrived.len() + before.pending.len())?;
        let mut frontier = Vec::new();
        let mut arrived: BTreeSet<u32> = before.arrived.iter().copied().collect();
        let mut pending: BTreeSet<NodeIdx> = before.pending.iter().copied().collect();
        let mut counts = vec![0; self.sides_of.len()];
        for &side in &arrived {
            counts[self.sides[side as usize].0.index()] += 1;
        }
        let (mut fired, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut queue = tokens.to_vec();
        loop {
            let Some(token) = queue.pop() else {
                let active = frontier.iter().chain(&pending).copied();
                match self.next_skipped(&arrived, &fired, active, work)? {
                    Some(join) => {
                        fired.insert(join);
                        queue.extend_from_slice(&self.outs[join.index()]);
                        continue;
                    }
                    None => break,
                }
            };
            if !seen.insert(token) {
                continue;
            }
            work.spend(0)?;
            match self.token(token) {
                Token::Node(node) if self.nodes[node.index()].deferred => {
                    pending.insert(node);
                }
                Token::Node(node) => frontier.push(node),
                Token::EmptyList(node) => {
                    // If another sender sends items, the node runs, and its own edges fire.
                    let runs = tokens.binary_search(&node.as_u32()).is_ok();
                    if !runs && !before.pending.contains(&node) {
                        queue.extend_from_slice(&self.nodes[node.index()].without_items);
                    }
                }
                Token::Side(side) => {
                    let (join, _) = self.sides[side as usize];
                    counts[join.index()] += usize::from(arrived.insert(side));
                    let complete = counts[join.index()] == self.sides_of[join.index()].len();
                    if complete && fired.insert(join) {
                        queue.extend_from_slice(&self.outs[join.index()]);
                    }
                }
            }
        }
        frontier.sort_unstable();
        if frontier.is_empty() {
            frontier = std::mem::take(&mut pending).into_iter().collect();
        }
        arrived.retain(|&side| !fired.contains(&self.sides[side as usize].0));
        Ok(State {
            frontier,
            arrived: arrived.into_iter().collect(),
            pending: pending.into_iter().collect(),
        })
    }

    /// The join that fires without its missing sides.
    fn next_skipped(
        &self,
        arrived: &BTreeSet<u32>,
        fired: &BTreeSet<JoinIdx>,
        active: impl Iterator<Item = NodeIdx> + Clone,
        work: &mut Work,
    ) -> Result<Option<JoinIdx>, TooMuchWork> {
        if self.skippable.is_empty() || arrived.is_empty() {
            return Ok(None);
        }
        let mut waiting: BTreeMap<JoinIdx, Vec<bool>> = BTreeMap::new();
        for &side in arrived {
            let (join, _) = self.sides[side as usize];
            if !fired.contains(&join) && !waiting.contains_key(&join) {
                let sides = &self.sides_of[join.index()];
                work.spend(sides.len() * (1 + active.clone().count()))?;
                let has_arrived = sides.iter().map(|side| arrived.contains(side));
                waiting.insert(join, has_arrived.collect());
            }
        }
        let waiting = |join: JoinIdx| waiting.get(&join).map(Vec::as_slice);
        Ok(SkippableJoin::next(&self.skippable, waiting, active))
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
pub(crate) fn diverges(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    node: NodeIdx,
    picks: Routes,
) -> bool {
    let many = picks == Routes::Any || graph.node(node).many;
    let out = &edges.nodes[node.index()];
    catch(out) || !many && routes(out).len() > 1
}
