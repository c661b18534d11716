//! One test per rule, and per way in which one mistake could be told twice.

use super::check;
use crate::graph::{Edge, Graph};
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::testing::{catch, each, end, graph, join, node, plain, route, side, start};

fn only(graph: &Graph) -> Problem {
    let problems = check(graph);
    assert_eq!(
        problems.len(),
        1,
        "{:#?}",
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
    problems[0].clone()
}

fn says(names: &str, edges: Vec<Edge>, rule: Rule, at: Site, text: &str) {
    let problem = only(&graph(names, edges));
    assert_eq!((problem.rule, problem.at), (rule, at), "{problem}");
    assert_eq!(problem.to_string(), format!("{}: {text}", rule.code()));
    assert!(!text.ends_with('.') && !text.contains('\n'));
}

fn accepted(names: &str, edges: Vec<Edge>) {
    let problems = check(&graph(names, edges));
    assert!(
        problems.is_empty(),
        "{:#?}",
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
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
        Site::Graph,
        "nothing starts the flow: no edge begins at START; add one, such as `START -> first`",
    );
    let empty = "nothing starts the flow: it has no edges; add one, such as `START -> first`";
    says("", vec![], Rule::NoStart, Site::Graph, empty);
    says("a b", vec![], Rule::NoStart, Site::Graph, empty);
}

#[test]
fn c38d_g017_a_node_declared_twice() {
    let text = "node `a` is declared twice; rename one of them, or remove it";
    says(
        "a b a",
        vec![start(0), plain(0, node(1))],
        Rule::DuplicateNode,
        Site::Node(2),
        text,
    );
    let problem = only(&graph("a b a", vec![start(0), plain(0, node(1))]));
    assert_eq!(
        problem.also,
        [(Site::Node(0), "first declared here".to_owned())]
    );
}

#[test]
fn c40_an_edge_written_twice() {
    let text = "the edge from `a` to `b` is written twice; an edge fires once per superstep, so remove one of them";
    says(
        "a b",
        vec![start(0), plain(0, node(1)), plain(0, node(1))],
        Rule::DuplicateEdge,
        Site::Edge(2),
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
    says("a b c", joins, Rule::DuplicateEdge, Site::Edge(7), text);
    accepted(
        "a b",
        vec![start(0), route(0, "B", node(1)), route(0, "C", node(1))],
    );
}

#[test]
fn pf008_a_declared_node_that_no_edge_uses() {
    let text = "node `b` is declared, but no edge uses it; add an edge or remove the node";
    says("a b", vec![start(0)], Rule::UnusedNode, Site::Node(1), text);
}

#[test]
fn c39_g021_unreachable_node_is_refused() {
    let text = "node `b` is unreachable: no edge leads to it; add an edge, such as `START -> b`, or remove the node";
    says(
        "a b",
        vec![start(0), plain(1, node(0))],
        Rule::UnreachableNode,
        Site::Node(1),
        text,
    );
}

#[test]
fn c39_what_follows_an_unreachable_node_is_silent() {
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
        Site::Node(1),
        text,
    );
}

#[test]
fn c39_a_cycle_that_nothing_enters_is_one_problem() {
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
        Site::Node(1),
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
    says("a b c", edges, Rule::UnreachableNode, Site::Node(1), text);
}

#[test]
fn g020_g021_a_cycle_with_no_way_out() {
    let text = "the cycle `a -> b -> a` has no way out: END cannot be reached from it; let a node of it choose a route, such as `a -> match { Again => .., Done => END }`";
    says(
        "in a b",
        vec![
            start(0),
            plain(0, node(1)),
            plain(1, node(2)),
            plain(2, node(1)),
        ],
        Rule::EndlessCycle,
        Site::Node(1),
        text,
    );
    let text = "the cycle `a -> a` has no way out: END cannot be reached from it; let a node of it choose a route, such as `a -> match { Again => .., Done => END }`";
    says(
        "a",
        vec![start(0), plain(0, node(0))],
        Rule::EndlessCycle,
        Site::Node(0),
        text,
    );
}

#[test]
fn g021_two_endless_cycles_are_two_problems() {
    let edges = vec![
        start(0),
        plain(0, node(1)),
        plain(0, node(2)),
        plain(1, node(1)),
        plain(2, node(2)),
    ];
    let problems = check(&graph("in a b", edges));
    assert_eq!(
        problems
            .iter()
            .map(|problem| (problem.rule, problem.at))
            .collect::<Vec<_>>(),
        [
            (Rule::EndlessCycle, Site::Node(1)),
            (Rule::EndlessCycle, Site::Node(2))
        ]
    );
}

#[test]
fn g021_a_cycle_that_is_always_taken_has_no_way_out_either() {
    let text = "the cycle `a -> b -> a` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route";
    says(
        "a b c",
        vec![
            start(0),
            plain(0, node(1)),
            plain(1, node(0)),
            plain(1, node(2)),
            plain(2, end()),
        ],
        Rule::EndlessCycle,
        Site::Node(0),
        text,
    );
    // A list can be empty, and a failure leaves the cycle.
    accepted("a b", vec![start(0), each(0, 1), each(1, 0)]);
    accepted("a b", vec![start(0), plain(0, node(0)), catch(0, 1)]);
    // The batch ends in `b` again, with items or without.
    assert_eq!(
        only(&graph("a b", vec![start(0), each(0, 1), plain(1, node(0))])).rule,
        Rule::EndlessCycle
    );
    let mut several = graph(
        "a b",
        vec![start(0), route(0, "B", node(1)), plain(1, node(0))],
    );
    assert_eq!(only(&several).rule, Rule::EndlessCycle);
    // Picking no route ends the path.
    several.nodes.to_mut()[0].many = true;
    assert!(check(&several).is_empty());
}

#[test]
fn c25_uneven_arms_of_a_join_are_fine() {
    accepted(
        "a b b2 d",
        vec![
            start(0),
            start(1),
            plain(1, node(2)),
            plain(0, side(0)),
            plain(2, side(0)),
            join(0, node(3)),
        ],
    );
}

#[test]
fn c30_a_join_to_end() {
    accepted(
        "a b",
        vec![
            start(0),
            start(1),
            plain(0, side(0)),
            plain(1, side(0)),
            join(0, end()),
        ],
    );
}

#[test]
fn pf011_a_route_that_may_skip_a_side() {
    let text = "the join `b & c` can be left waiting when nothing else runs: `a` may choose a route that does not lead to `c`; to run `d` once after whatever does run, use plain edges `b -> d`, `c -> d` and `defer d`";
    let edges = vec![
        start(0),
        route(0, "B", node(1)),
        route(0, "C", node(2)),
        plain(1, side(0)),
        plain(2, side(0)),
        join(0, node(3)),
    ];
    says("a b c d", edges, Rule::StuckJoin, Site::Join(0), text);
    let edges = vec![
        start(0),
        route(0, "B", node(1)),
        route(0, "C", node(2)),
        plain(1, node(3)),
        plain(2, node(3)),
    ];
    let mut deferred = graph("a b c d", edges);
    deferred.nodes.to_mut()[3].deferred = true;
    assert!(check(&deferred).is_empty());
}

#[test]
fn pf011_a_failure_that_may_skip_a_side() {
    let edges = vec![
        start(0),
        start(1),
        plain(0, side(0)),
        plain(1, side(0)),
        join(0, node(2)),
        catch(1, 3),
    ];
    let text = "the join `a & b` can be left waiting when nothing else runs: `b` may fail, and what has failed does not arrive; to run `c` once after whatever does run, use plain edges `a -> c`, `b -> c` and `defer c`";
    says("a b c recover", edges, Rule::StuckJoin, Site::Join(0), text);
    let edges = vec![
        start(0),
        start(1),
        plain(0, side(0)),
        plain(1, node(4)),
        plain(4, side(0)),
        join(0, node(2)),
        catch(1, 3),
    ];
    assert!(
        only(&graph("a b c recover b2", edges))
            .text
            .contains(": if `b` fails, `b2` may not run;")
    );
}

#[test]
fn pf011_a_side_that_arrives_more_often() {
    let text = "the join `a & c` can be left waiting when nothing else runs: the other sides can arrive more often than `c`; to run `d` once after whatever does run, use plain edges `a -> d`, `c -> d` and `defer d`";
    let edges = vec![
        start(0),
        start(1),
        start(2),
        plain(1, node(0)),
        plain(0, side(0)),
        plain(2, side(0)),
        join(0, node(3)),
    ];
    says("a b c d", edges, Rule::StuckJoin, Site::Join(0), text);
}

#[test]
fn pf011_a_join_that_waits_for_a_stuck_one_is_silent() {
    let edges = vec![
        start(0),
        start(4),
        route(0, "B", node(1)),
        route(0, "C", node(2)),
        plain(1, side(0)),
        plain(2, side(0)),
        join(0, node(3)),
        plain(3, side(1)),
        plain(4, side(1)),
        join(1, node(5)),
    ];
    assert_eq!(only(&graph("a b c d e f", edges)).at, Site::Join(0));
}

#[test]
fn pf014_a_node_with_a_route_has_nothing_else() {
    let text = "node `a` chooses a route, but also has plain edges, which would fire whatever it chooses; give each route its edges, such as `a -> match { .. }`";
    says(
        "a b c",
        vec![start(0), route(0, "B", node(1)), plain(0, node(2))],
        Rule::PlainBesideRoute,
        Site::Edge(2),
        text,
    );
}

#[test]
fn pf026_a_catch_that_cannot_work() {
    let text = "node `a` catches its own failure, so it would run again as if it had succeeded; use `with a { retry: .. }`, or another node";
    says(
        "a",
        vec![start(0), catch(0, 0)],
        Rule::Catch,
        Site::Edge(1),
        text,
    );
    let text = "the failure of node `a` is caught twice; keep one `catch`";
    says(
        "a b c",
        vec![start(0), catch(0, 1), catch(0, 2)],
        Rule::Catch,
        Site::Edge(2),
        text,
    );
    assert_eq!(
        only(&graph("a b", vec![start(0), catch(0, 1), catch(0, 1)])).rule,
        Rule::DuplicateEdge
    );
}

#[test]
fn g022_all_problems_are_told_and_each_has_its_code() {
    let edges = vec![
        start(0),
        start(0),
        plain(2, node(0)),
        plain(0, node(3)),
        plain(3, node(3)),
    ];
    let problems = check(&graph("a b c d", edges));
    let codes: Vec<String> = problems
        .iter()
        .map(|problem| problem.to_string()[..5].to_owned())
        .collect();
    assert_eq!(codes, ["PF004", "PF008", "PF009", "PF010"]);
}
