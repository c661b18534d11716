//! One test per rule, and per way in which one mistake could be told twice.

mod cycles;
mod joins;

use super::check;
use crate::diagnostic::{Diagnostic, Location};
use crate::graph::{Edge, Graph};
use crate::idx::NodeIdx;
use crate::rule::Rule;
use crate::testing::{catch, end, graph, join, node, plain, route, side, start};

fn only(graph: &Graph) -> Diagnostic {
    let diagnostics = check(graph);
    assert_eq!(
        diagnostics.len(),
        1,
        "{:#?}",
        diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    );
    diagnostics[0].clone()
}

fn says(names: &str, edges: Vec<Edge>, rule: Rule, at: Location, text: &str) {
    let diagnostic = only(&graph(names, edges));
    assert_eq!((diagnostic.rule, diagnostic.at), (rule, at), "{diagnostic}");
    assert_eq!(diagnostic.to_string(), format!("{}: {text}", rule.code()));
    assert!(!text.ends_with('.') && !text.contains('\n'));
}

fn accepted(names: &str, edges: Vec<Edge>) {
    let diagnostics = check(&graph(names, edges));
    assert!(
        diagnostics.is_empty(),
        "{:#?}",
        diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    );
}

#[test]
fn g016_chains_routes_and_loops_are_accepted() {
    accepted("a b", vec![start(0), plain(0, node(1)), plain(1, end())]);
    accepted(
        "a",
        vec![
            start(0),
            route(0, "Again", node(0)),
            route(0, "Done", end()),
        ],
    );
    accepted(
        "a b c",
        vec![start(0), route(0, "B", node(1)), route(0, "C", node(2))],
    );
}

#[test]
fn c38a_g018_nothing_starts_the_flow() {
    let edges = vec![plain(0, node(1)), plain(1, end())];
    says(
        "a b",
        edges,
        Rule::NoStart,
        Location::Graph,
        "the flow has no edge from START: `a` has no edge into it; write `START -> a`",
    );
    let empty = "the flow has no edges, so it has no first node; add one, such as `START -> first`";
    says("", vec![], Rule::NoStart, Location::Graph, empty);
    says("a b", vec![], Rule::NoStart, Location::Graph, empty);
}

/// `write -> polsh; polish -> audit`: the misspelt name makes two nodes, and neither START nor an edge leads to the second.
#[test]
fn a_misspelt_name_between_two_statements_is_named() {
    says(
        "write polsh polish audit",
        vec![plain(0, node(1)), plain(2, node(3))],
        Rule::NoStart,
        Location::Node(NodeIdx::new(2)),
        "the flow has several possible first nodes: no edge leads to `polish`, but one leads to the similar name `polsh`; if they are one node, write `polish` or `polsh` in both places, else write which nodes are first: `START -> ..`",
    );
}

#[test]
fn c38d_g017_p033_a_node_declared_twice() {
    let text = "node `a` is declared twice; rename one of them, or remove it";
    says(
        "a b a",
        vec![start(0), plain(0, node(1))],
        Rule::DuplicateNode,
        Location::Node(NodeIdx::new(2)),
        text,
    );
    let diagnostic = only(&graph("a b a", vec![start(0), plain(0, node(1))]));
    assert_eq!(
        diagnostic.also,
        [(
            Location::Node(NodeIdx::new(0)),
            "first declared here".to_owned()
        )]
    );
}

#[test]
fn c40_an_edge_written_twice() {
    let text = "the edge from `a` to `b` is written twice; an edge fires once per superstep, so remove one of them";
    says(
        "a b",
        vec![start(0), plain(0, node(1)), plain(0, node(1))],
        Rule::DuplicateEdge,
        Location::Edge(2),
        text,
    );
    let joins = vec![
        start(0),
        start(1),
        plain(0, side(0)),
        plain(1, side(0)),
        join(0, node(2)),
        plain(1, side(1)),
        plain(0, side(1)),
        join(1, node(2)),
    ];
    let text = "the edge from `b & a` to `c` is written twice; an edge fires once per superstep, so remove one of them";
    says("a b c", joins, Rule::DuplicateEdge, Location::Edge(7), text);
    accepted(
        "a b",
        vec![start(0), route(0, "B", node(1)), route(0, "C", node(1))],
    );
}

#[test]
fn pf008_a_declared_node_that_no_edge_uses() {
    let text = "node `b` is declared, but no edge uses it; add an edge or remove the node";
    says(
        "a b",
        vec![start(0)],
        Rule::UnusedNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn c39_g021_unreachable_node_is_refused() {
    let text = "node `b` is unreachable: no edge leads to it; add an edge, such as `START -> b`, or remove the node";
    says(
        "a b",
        vec![start(0), plain(1, node(0))],
        Rule::UnreachableNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn a_similar_node_that_ends_where_this_one_begins_is_named() {
    // `write -> polsh; polish -> audit`
    let edges = |to| vec![start(0), plain(0, node(1)), plain(1, to), plain(2, node(3))];
    let text = "node `polish` is unreachable: no edge leads to it, but one leads to the similar name `polsh`; if they are one node, write `polish` or `polsh` in both places, else add an edge, such as `START -> polish`";
    says(
        "write polsh polish audit",
        edges(end()),
        Rule::UnreachableNode,
        Location::Node(NodeIdx::new(2)),
        text,
    );
    let other = "node `polish` is unreachable: no edge leads to it; add an edge, such as `START -> polish`, or remove the node";
    for (nodes, to) in [
        ("write polsh polish audit", node(3)),
        ("write check polish audit", end()),
    ] {
        says(
            nodes,
            edges(to),
            Rule::UnreachableNode,
            Location::Node(NodeIdx::new(2)),
            other,
        );
    }
}

#[test]
fn a_similar_node_that_edges_use_is_named() {
    let text = "node `again` is declared, but no edge uses it, only the similar name `agian`; if they are one node, write `again` or `agian` in both places, else add an edge, or remove the node";
    says(
        "agian again",
        vec![start(0)],
        Rule::UnusedNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn c39_nodes_after_an_unreachable_node_are_not_reported() {
    let text = "node `b` is unreachable: no edge leads to it; add an edge, such as `START -> b`, or remove the node";
    // Neither the chain after it, nor its cycle without a way out, nor a join that waits for it.
    let edges = vec![
        start(0),
        plain(1, node(2)),
        plain(2, node(3)),
        plain(3, node(2)),
        plain(0, side(0)),
        plain(3, side(0)),
        join(0, node(4)),
    ];
    says(
        "a b c d e",
        edges,
        Rule::UnreachableNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn c39_a_cycle_that_nothing_enters_is_one_diagnostic() {
    let text = "node `b` is unreachable: it can only run after itself (`b -> c -> d -> b`); add an edge into the cycle, such as `START -> b`";
    let edges = vec![
        start(0),
        plain(1, node(2)),
        plain(2, node(3)),
        plain(3, node(1)),
        plain(3, node(4)),
    ];
    says(
        "a b c d e",
        edges,
        Rule::UnreachableNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn c39_a_join_that_waits_for_what_comes_after_it() {
    let text = "node `b` is unreachable: the join `a & c` waits for `c`, which itself can only run after the join; take `c` out of the join, or lead another edge to it";
    let edges = vec![
        start(0),
        plain(0, side(0)),
        plain(2, side(0)),
        join(0, node(1)),
        plain(1, node(2)),
    ];
    says(
        "a b c",
        edges,
        Rule::UnreachableNode,
        Location::Node(NodeIdx::new(1)),
        text,
    );
}

#[test]
fn pf014_a_node_with_a_route_has_nothing_else() {
    let text = "node `a` chooses a route but also has plain edges, which would fire whichever route it chooses; give each route its own edges, such as `a -> match { .. }`";
    says(
        "a b c",
        vec![start(0), route(0, "B", node(1)), plain(0, node(2))],
        Rule::PlainBesideRoute,
        Location::Edge(2),
        text,
    );
}

#[test]
fn pf026_a_catch_that_cannot_work() {
    let text = "node `a` catches its own failure, so it would run again after each failure; use `with a { retry: .. }`, or catch it with another node";
    says(
        "a",
        vec![start(0), catch(0, 0)],
        Rule::Catch,
        Location::Edge(1),
        text,
    );
    let text = "the failure of node `a` is caught twice; remove one `catch`";
    says(
        "a b c",
        vec![start(0), catch(0, 1), catch(0, 2)],
        Rule::Catch,
        Location::Edge(2),
        text,
    );
    assert_eq!(
        only(&graph("a b", vec![start(0), catch(0, 1), catch(0, 1)])).rule,
        Rule::DuplicateEdge
    );
}

#[test]
fn g022_all_diagnostics_are_told_and_each_has_its_code() {
    let edges = vec![
        start(0),
        start(0),
        plain(2, node(0)),
        plain(0, node(3)),
        plain(3, node(3)),
    ];
    let diagnostics = check(&graph("a b c d", edges));
    let codes: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.to_string()[..5].to_owned())
        .collect();
    assert_eq!(codes, ["PF004", "PF008", "PF009", "PF010"]);
}
