//! The rules that depend only on the graph, not on the types of its nodes.
//!
//! [`CHECKS`] lists them. The rules that depend on the types of the nodes are in `node_rules`.

mod cx;
mod cycles;
mod joins;
mod names;
mod reachability;
mod shape;

use self::cx::Cx;
use crate::analyses::{Exploration, Routes, explore};
use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::rule::Rule;

/// A rule with the function that checks it. The function reports violations of no other rule.
struct Check {
    rule: Rule,
    run: fn(&Cx<'_>, &mut Vec<Diagnostic>),
    /// Whether the rule applies to a graph without a first node. In such a graph nothing is reachable, which is one mistake.
    without_start: bool,
}

/// The rules that a graph has to satisfy, in the order in which violations are reported.
const CHECKS: &[Check] = &[
    always(Rule::NoStart, shape::flow_has_a_first_node),
    always(Rule::DuplicateNode, shape::node_names_are_unique),
    always(Rule::DuplicateNode, shape::stored_names_are_unique),
    always(Rule::DuplicateEdge, shape::edges_are_unique),
    always(
        Rule::PlainBesideRoute,
        shape::routes_have_no_plain_edges_beside,
    ),
    always(Rule::Catch, shape::catches_can_work),
    if_started(Rule::UnusedNode, shape::nodes_are_used),
    if_started(Rule::UnreachableNode, reachability::nodes_are_reachable),
    if_started(Rule::EndlessCycle, cycles::cycles_can_be_left),
    if_started(Rule::StuckJoin, joins::joins_complete),
];

const fn always(rule: Rule, run: fn(&Cx<'_>, &mut Vec<Diagnostic>)) -> Check {
    Check {
        rule,
        run,
        without_start: true,
    }
}

const fn if_started(rule: Rule, run: fn(&Cx<'_>, &mut Vec<Diagnostic>)) -> Check {
    Check {
        rule,
        run,
        without_start: false,
    }
}

/// Checks a graph: one diagnostic per mistake, in a fixed order.
///
/// [`diagnose`](crate::diagnose) checks the rules that depend on how many routes a node picks, because it knows the types of the
/// nodes.
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
/// let diagnostics = check(&graph);
/// assert_eq!(diagnostics.len(), 1);
/// assert!(diagnostics[0].to_string().starts_with("PF009: node `audit` is unreachable: no edge leads to it"));
/// ```
pub fn check(graph: &Graph) -> Vec<Diagnostic> {
    check_with(graph, &explore(graph, Routes::AsDeclared))
}

/// [`check`] for a caller that has already explored the graph.
pub fn check_with(graph: &Graph, exploration: &Exploration) -> Vec<Diagnostic> {
    let cx = Cx::of(graph, exploration);
    let started = !cx.edges.start.is_empty();
    let mut diagnostics = Vec::new();
    for check in CHECKS {
        if started || check.without_start {
            let before = diagnostics.len();
            (check.run)(&cx, &mut diagnostics);
            debug_assert!(
                diagnostics[before..]
                    .iter()
                    .all(|diagnostic| diagnostic.rule == check.rule),
                "a check reports its own rule only"
            );
        }
    }
    diagnostics
}

#[cfg(test)]
mod tests;
