//! Everything a graph can do, explored state by state.

use crate::edges::batches;
use crate::frontiers::Frontiers;
use crate::graph::Graph;
use crate::idx::NodeIdx;
use crate::pairs::Pairs;
use crate::steps::{Routes, Shape, diverges};
use crate::stuck::{self, Stuck};
use crate::together::by_pairs;
use crate::trapped;
use crate::walk::Walk;

/// What a graph can do.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Whether every state was visited. If not, the rest is still sound: it may hold more than can happen, never less.
    pub exact: bool,
    /// Which nodes can run in one superstep.
    pub pairs: Pairs,
    /// The joins that can be left holding an arrival, by number.
    pub stuck: Vec<Stuck>,
    /// Nodes that keep a run going for ever once it has come to them, whatever they do: each set by itself. Only what joins
    /// keep going is looked for here; the rest can be told from the edges.
    pub endless: Vec<Vec<NodeIdx>>,
    /// The states, unless they were not all visited or are too many to write down.
    pub frontiers: Option<Frontiers>,
}

/// Explores what a graph can do, up to 20,000 states; beyond, what can be said without visiting them all.
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
#[inline]
pub fn explore(graph: &Graph, routes: Routes) -> Exploration {
    let mut several = batches(graph);
    loop {
        let exploration = explore_with(graph, routes, &several);
        // As long as no node runs several times that was taken to run once, what was explored is all that can happen.
        let more = match routes {
            Routes::AsDeclared => Vec::new(),
            _ => delivered_several(graph, &exploration.pairs, &several, routes),
        };
        if more.is_empty() {
            return exploration;
        }
        more.iter().for_each(|&node| several[node.index()] = true);
    }
}

/// The nodes beyond `several` that can be delivered to more than once in a superstep, where that makes a difference.
#[inline]
pub(crate) fn delivered_several(
    graph: &Graph,
    pairs: &Pairs,
    several: &[bool],
    routes: Routes,
) -> Vec<NodeIdx> {
    let more = |node: NodeIdx| !several[node.index()] && pairs.contains(node, node);
    NodeIdx::all(graph.nodes.len())
        .filter(|&node| more(node) && diverges(graph, node, routes))
        .collect()
}

#[inline]
fn explore_with(graph: &Graph, routes: Routes, several: &[bool]) -> Exploration {
    let shape = Shape::of(graph, routes, several);
    let Some(walk) = Walk::through(&shape) else {
        let (pairs, _) = by_pairs(graph, routes, several);
        return Exploration {
            exact: false,
            pairs,
            stuck: stuck::suspected(graph),
            endless: Vec::new(),
            frontiers: None,
        };
    };
    let mut pairs = Pairs::none(graph.nodes.len());
    let mut reached = vec![false; graph.nodes.len()];
    for state in &walk.states {
        pairs.insert_all(&state.frontier);
        for &node in &state.frontier {
            reached[node.index()] = true;
        }
    }
    let waits = |to: NodeIdx, from: NodeIdx| {
        walk.states.iter().any(|state| {
            state.pending.binary_search(&to).is_ok() && state.frontier.binary_search(&from).is_ok()
        })
    };
    pairs.insert_repeated(graph, &reached, routes, waits);
    let stuck = stuck::found(graph, &shape, &walk);
    let endless = if graph.joins == 0 {
        Vec::new()
    } else {
        trapped::sets(graph, &walk)
    };
    let frontiers = Frontiers::of(&walk, graph.nodes.len());
    Exploration {
        exact: true,
        pairs,
        stuck,
        endless,
        frontiers,
    }
}
