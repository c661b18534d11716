//! Runs the analyses: over all states of the run if there are few, else over the edges.

use super::concurrency::{Pairs, by_pairs};
use super::frontiers::Frontiers;
use super::join_deadlock::{self, Stuck};
use super::nontermination::inescapable_sets;
use super::state_space::StateSpace;
use super::superstep::{Routes, Shape, diverges};
use crate::edges::batches;
use crate::graph::Graph;
use crate::idx::NodeIdx;
use crate::sorted::contains;

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

/// Explores the possible runs of the graph. Above 20,000 states it reads the edges only; see [`Exploration::exact`].
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
    let mut several = batches(graph);
    loop {
        let exploration = explore_with(graph, routes, &several);
        // Repeats until no node runs several times that was assumed to run once.
        let more = match routes {
            Routes::AsDeclared => Vec::new(),
            _ => delivered_several(graph, &exploration.pairs, &several, routes),
        };
        if more.is_empty() {
            return exploration;
        }
        for node in &more {
            several[node.index()] = true;
        }
    }
}

/// The nodes that are not in `several` but can receive several deliveries in one superstep, if that has an influence.
pub(crate) fn delivered_several(
    graph: &Graph,
    pairs: &Pairs,
    several: &[bool],
    routes: Routes,
) -> Vec<NodeIdx> {
    let mut more = Vec::new();
    for node in graph.node_indices() {
        if !several[node.index()] && pairs.contains(node, node) && diverges(graph, node, routes) {
            more.push(node);
        }
    }
    more
}

fn explore_with(graph: &Graph, routes: Routes, several: &[bool]) -> Exploration {
    let shape = Shape::of(graph, routes, several);
    let Some(space) = StateSpace::explore(&shape) else {
        return Exploration {
            exact: false,
            pairs: by_pairs(graph, routes, several).0,
            stuck: join_deadlock::suspected(graph),
            endless: Vec::new(),
            frontiers: None,
        };
    };
    let mut pairs = Pairs::none(graph.nodes.len());
    let mut reached = vec![false; graph.nodes.len()];
    for state in &space.states {
        pairs.insert_all(&state.frontier);
        for &node in &state.frontier {
            reached[node.index()] = true;
        }
    }
    let waits = |to: NodeIdx, from: NodeIdx| {
        for state in &space.states {
            if contains(&state.pending, &to) && contains(&state.frontier, &from) {
                return true;
            }
        }
        false
    };
    pairs.insert_repeated(graph, &reached, routes, &waits);
    let stuck = join_deadlock::found(graph, &shape, &space);
    let endless = if graph.joins == 0 {
        Vec::new()
    } else {
        inescapable_sets(graph, &space)
    };
    let frontiers = Frontiers::of(&space, graph.nodes.len());
    Exploration {
        exact: true,
        pairs,
        stuck,
        endless,
        frontiers,
    }
}
