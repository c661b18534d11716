//! The rules that a graph can break by itself, whatever its nodes do.

mod cycles;
mod endless;
mod joins;
mod names;
mod reach;
mod shape;

use crate::edges::EdgesBySource;
use crate::explore::{Exploration, explore};
use crate::graph::{Graph, Source};
use crate::idx::NodeIdx;
use crate::problem::Problem;
use crate::steps::Routes;

pub(crate) use cycles::sinks;
pub use endless::EndlessRow;

/// What is wrong with a graph, one problem per mistake; in a fixed order.
///
/// What depends on how many routes its nodes pick is not said here but by [`judge`](crate::judge), which knows their types.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via, check};
/// let [write, audit] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let edge = |from, to| Edge { from, via: Via::Plain, to };
/// let graph = Graph {
///     nodes: ["write", "audit"].map(Node::named).to_vec().into(),
///     edges: vec![edge(Source::Start, Target::Node(write)), edge(Source::Node(audit), Target::Node(write))].into(),
///     joins: 0,
/// };
/// let problems = check(&graph);
/// assert_eq!(problems.len(), 1);
/// assert!(problems[0].to_string().starts_with("PF009: node `audit` is unreachable: no edge leads to it"));
/// ```
#[inline]
pub fn check(graph: &Graph) -> Vec<Problem> {
    check_with(graph, &explore(graph, Routes::AsDeclared))
}

/// [`check`] for a caller that has explored the graph.
#[inline]
pub fn check_with(graph: &Graph, exploration: &Exploration) -> Vec<Problem> {
    let cx = Cx {
        graph,
        edges: EdgesBySource::of(graph),
        exploration,
        reach: reach::Reach::of(graph),
    };
    let mut problems = Vec::new();
    shape::flow_starts(&cx, &mut problems);
    shape::nodes_are_unique(&cx, &mut problems);
    shape::stored_names_are_unique(&cx, &mut problems);
    shape::edges_are_unique(&cx, &mut problems);
    shape::routes_stand_alone(&cx, &mut problems);
    shape::catches_work(&cx, &mut problems);
    // Without a start nothing is reachable, and that is one mistake.
    if !cx.edges.start.is_empty() {
        shape::nodes_are_used(&cx, &mut problems);
        reach::nodes_are_reachable(&cx, &mut problems);
        cycles::cycles_end(&cx, &mut problems);
        joins::joins_complete(&cx, &mut problems);
    }
    problems
}

/// The cycles without a way out that depend on their nodes picking exactly one route.
#[inline]
pub(crate) fn endless_by_choice(graph: &Graph) -> Vec<EndlessRow> {
    let edges = EdgesBySource::of(graph);
    endless::Endless::of(graph, &edges, &reach::Reach::of(graph)).by_choice()
}

/// What the rules look at.
struct Cx<'a> {
    graph: &'a Graph,
    edges: EdgesBySource<'a>,
    exploration: &'a Exploration,
    reach: reach::Reach,
}

impl Cx<'_> {
    #[inline]
    fn name(&self, node: NodeIdx) -> &str {
        &self.graph.nodes[node.index()].name
    }

    #[inline]
    fn source(&self, source: Source) -> String {
        names::source(self.graph, source)
    }
}

#[cfg(test)]
mod tests;
