//! Runs the analyses: over all states of the run if there are few, else over the edges.

use super::concurrency::{Pairs, by_pairs};
use super::frontiers::Frontiers;
use super::join_deadlock::{self, Stuck};
use super::nontermination::inescapable_sets;
use super::state_space::StateSpace;
use super::superstep::{Routes, Shape, diverges};
use super::work::{TooMuchWork, Work};
use crate::bits::BitSet;
use crate::edges::{EdgesBySource, batches};
use crate::graph::Graph;
use crate::idx::NodeIdx;

/// The possible runs of a graph.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Whether every state was visited. If not, the other results are still sound: they contain everything that is possible, and
    /// possibly more.
    pub exact: bool,
    /// Which nodes can run in one superstep.
    pub pairs: Pairs,
    /// The joins that can wait for a side that never arrives, in the order of their indices.
    pub stuck: Vec<Stuck>,
    /// Sets of nodes that a run cannot leave, whatever the nodes choose. Only for graphs with joins. For the other graphs the
    /// edges suffice.
    pub endless: Vec<Vec<NodeIdx>>,
    /// The states. `None` if they were not all visited, or if they are too many for the constants of a program.
    pub frontiers: Option<Frontiers>,
}

/// Explores the possible runs of the graph. Above 20,000 states, or ten million steps of work, it reads the edges only; see
/// [`Exploration::exact`].
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Routes, Source, Target, Via, explore};
/// let [write, draw] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let edge = |from, to| Edge { from, via: Via::Plain, to };
/// let graph = Graph {
///     nodes: ["write", "draw"].map(Node::named).to_vec().into(),
///     edges: [write, draw].map(|node| edge(Source::Start, Target::Node(node))).to_vec().into(),
///     joins: 0,
/// };
/// let exploration = explore(&graph, Routes::AsDeclared);
/// assert!(exploration.exact && exploration.pairs.contains(write, draw));
/// ```
pub fn explore(graph: &Graph, routes: Routes) -> Exploration {
    let mut work = match routes {
        Routes::AsDeclared => Work::default(),
        Routes::PerDelivery | Routes::Any => Work::of_more(),
    };
    by_states(graph, routes, &mut work).unwrap_or_else(|TooMuchWork| Exploration {
        exact: false,
        pairs: pairs_of_edges(graph, routes, &mut Work::default())
            .unwrap_or_else(|TooMuchWork| Pairs::all(graph.nodes.len())),
        stuck: join_deadlock::suspect_stuck(graph, &mut Work::default()),
        endless: Vec::new(),
        frontiers: None,
    })
}

/// Visits all states.
pub(crate) fn by_states(
    graph: &Graph,
    routes: Routes,
    work: &mut Work,
) -> Result<Exploration, TooMuchWork> {
    let mut several = batches(graph);
    loop {
        let shape = Shape::of(graph, routes, &several, work)?;
        let space = StateSpace::explore(&shape, work)?;
        let pairs = pairs_of_states(graph, routes, &space);
        if assume_several(graph, &pairs, &mut several, routes) {
            continue;
        }
        return Ok(Exploration {
            exact: true,
            pairs,
            stuck: join_deadlock::find_stuck(graph, &shape, &space, &mut Work::default()),
            endless: if graph.joins == 0 {
                Vec::new()
            } else {
                inescapable_sets(graph, &space)
            },
            frontiers: Frontiers::of(&space, graph.nodes.len()),
        });
    }
}

/// The pairs, by the edges.
pub(crate) fn pairs_of_edges(
    graph: &Graph,
    routes: Routes,
    work: &mut Work,
) -> Result<Pairs, TooMuchWork> {
    let mut several = batches(graph);
    loop {
        let (pairs, _) = by_pairs(graph, routes, &several, work)?;
        if !assume_several(graph, &pairs, &mut several, routes) {
            return Ok(pairs);
        }
    }
}

/// Marks the nodes that were assumed to run once but can run several times. Returns whether there are any: then the analysis is
/// repeated.
fn assume_several(graph: &Graph, pairs: &Pairs, several: &mut [bool], routes: Routes) -> bool {
    if routes == Routes::AsDeclared {
        return false;
    }
    let more = delivered_several(graph, pairs, several, routes);
    for node in &more {
        several[node.index()] = true;
    }
    !more.is_empty()
}

/// The nodes that are not in `several` but can receive several deliveries in one superstep, if that has an influence.
pub(crate) fn delivered_several(
    graph: &Graph,
    pairs: &Pairs,
    several: &[bool],
    routes: Routes,
) -> Vec<NodeIdx> {
    let edges = EdgesBySource::of(graph);
    let more = graph.node_indices().filter(|&node| {
        !several[node.index()]
            && pairs.contains(node, node)
            && diverges(graph, &edges, node, routes)
    });
    more.collect()
}

fn pairs_of_states(graph: &Graph, routes: Routes, space: &StateSpace) -> Pairs {
    let nodes = graph.nodes.len();
    let mut pairs = Pairs::none(nodes);
    let mut reached = BitSet::default();
    // For each deferred node the nodes that run while it waits.
    let mut beside = vec![BitSet::default(); nodes];
    for state in &space.states {
        let frontier = BitSet::of(state.frontier.iter().map(|node| node.index()));
        pairs.insert_all(&frontier);
        reached.union(&frontier);
        for waiting in &state.pending {
            beside[waiting.index()].union(&frontier);
        }
    }
    let waits = |to: NodeIdx, from: NodeIdx| beside[to.index()].contains(from.index());
    pairs.insert_repeated(graph, &reached, routes, &waits);
    pairs
}
