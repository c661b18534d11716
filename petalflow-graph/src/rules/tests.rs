//! One test per rule, and per way in which one mistake could be told twice.

use super::check;
use crate::graph::{Edge, Graph};
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::testing::{catch, each, end, graph, join, node, plain, route, side, start};
use crate::{Analysis, NodeFacts, verdicts_of};

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
}

/// The nodes at which cycles are reported without asking how many routes the nodes pick.
fn endless_at(graph: &Graph) -> Vec<Site> {
    let problems = check(graph);
    assert!(
        problems
            .iter()
            .all(|problem| problem.rule == Rule::EndlessCycle),
        "{problems:?}"
    );
    problems.iter().map(|problem| problem.at).collect()
}

/// The nodes at which cycles are reported if the nodes of these names pick several routes.
#[test]
fn a_stored_name_belongs_to_one_node() {
    let renamed = |ids: [Option<&'static str>; 3]| {
        let mut graph = graph(
            "a b c",
            vec![start(0), plain(0, node(1)), plain(1, node(2))],
        );
        for (node, id) in graph.nodes.to_mut().iter_mut().zip(ids) {
            node.stored = id.map(Into::into);
        }
        check(&graph)
            .iter()
            .map(|problem| (problem.at, problem.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(renamed([Some("b"), Some("c"), Some("a")]), []);
    for (ids, at) in [
        ([Some("b"), None, None], 0),
        ([None, Some("a"), None], 1),
        ([Some("x"), None, Some("x")], 2),
    ] {
        let problems = renamed(ids);
        assert!(
            problems.len() == 1
                && problems[0].0 == Site::Node(at)
                && problems[0].1.starts_with("PF003: nodes `a` and "),
            "{problems:?}"
        );
    }
}

fn endless_if_many(graph: &Graph, many: &str) -> Vec<u32> {
    let node = |node: &crate::Node| NodeFacts {
        many: many.split_whitespace().any(|name| name == node.name),
        has_route: true,
        ..NodeFacts::new("node")
    };
    let nodes: Vec<NodeFacts<'_>> = graph.nodes.iter().map(node).collect();
    let analysis = Analysis::of(graph);
    let verdicts = verdicts_of(&analysis.tables(), &[], &nodes);
    let endless = (0..).zip(&verdicts).filter(|(_, verdict)| verdict.endless);
    endless.map(|(place, _)| place).collect()
}

#[test]
fn pf010_a_cycle_that_every_choice_leads_back_into() {
    let loops = graph(
        "n m",
        vec![
            start(0),
            route(0, "P", node(0)),
            route(0, "Q", node(0)),
            route(0, "Q", node(1)),
            plain(1, end()),
        ],
    );
    // A node that picks any number of routes can pick none.
    assert!(check(&loops).is_empty());
    assert_eq!(endless_if_many(&loops, ""), [0]);
    assert!(endless_if_many(&loops, "n").is_empty());
    assert_eq!(endless_if_many(&loops, "m"), [0]);
    let mut declared = loops.clone();
    declared.nodes.to_mut()[0].many = true;
    assert!(Analysis::declared(&declared).endless.is_empty());
    let nodes = [NodeFacts::new("n"), NodeFacts::new("m")];
    let verdicts = verdicts_of(&Analysis::declared(&loops).tables(), &[], &nodes);
    let problems = verdicts[0].problems(0, &[], &nodes);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].to_string(),
        "PF010: the cycle through `n` has no way out: whichever route its nodes choose, one of them runs again, so the run cannot end; give a node of it a route that leaves the cycle, such as `Done => END`"
    );
    // Without a way to END at all it is the same, and reported once.
    let loops = graph(
        "p x y",
        vec![
            start(0),
            route(0, "X", node(1)),
            route(0, "Y", node(2)),
            plain(1, node(0)),
            plain(2, node(0)),
        ],
    );
    assert!(check(&loops).is_empty());
    assert_eq!(endless_if_many(&loops, ""), [0]);
    assert!(endless_if_many(&loops, "p").is_empty());
    // The usual loop.
    let edges = vec![
        start(0),
        route(0, "Again", node(1)),
        plain(1, node(0)),
        route(0, "Done", end()),
    ];
    let usual = graph("n m", edges);
    assert!(check(&usual).is_empty() && Analysis::of(&usual).endless.is_empty());
}

#[test]
fn pf010_a_failure_that_is_caught_back_into_the_cycle() {
    let edges = |back: u32| {
        vec![
            start(0),
            plain(0, node(1)),
            plain(1, node(0)),
            plain(1, node(3)),
            plain(3, end()),
            catch(0, 2),
            plain(2, node(back)),
        ]
    };
    let text = "the cycle `a -> b -> a` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route";
    says(
        "a b recover c",
        edges(1),
        Rule::EndlessCycle,
        Site::Node(0),
        text,
    );
    accepted("a b recover c", edges(3));
    // A cycle that one route leaves, but that fails back into itself, can be left.
    accepted(
        "a recover",
        vec![
            start(0),
            route(0, "Again", node(0)),
            route(0, "Done", end()),
            catch(0, 1),
            plain(1, node(0)),
        ],
    );
}

#[test]
fn pf010_what_only_leads_into_a_cycle_is_silent() {
    // `a` is on a cycle of its own, which it leaves, though only for `b`.
    let edges = vec![
        start(0),
        route(0, "Again", node(0)),
        route(0, "Done", node(1)),
        plain(1, node(1)),
        plain(1, node(2)),
        plain(2, end()),
    ];
    let flow = graph("a b c", edges);
    assert_eq!(endless_at(&flow), [Site::Node(1)]);
    assert!(endless_if_many(&flow, "").is_empty());
    // One in each of two branches.
    let edges = vec![
        start(0),
        plain(0, node(1)),
        plain(0, node(2)),
        plain(0, end()),
        route(1, "P", node(1)),
        route(1, "Q", node(3)),
        route(3, "P", node(1)),
        route(2, "P", node(2)),
    ];
    let flow = graph("in a b a2", edges);
    assert!(endless_at(&flow).is_empty());
    assert_eq!(endless_if_many(&flow, ""), [1, 2]);
    assert_eq!(endless_if_many(&flow, "b"), [1]);
    assert_eq!(endless_if_many(&flow, "a"), [2]);
    assert!(endless_if_many(&flow, "a2 b").is_empty());
}

#[test]
fn pf010_a_cycle_within_a_cycle_that_can_be_left_after_all() {
    // All of it, `p` by itself, and `q` by itself: whatever picks several, one problem at most.
    let edges = vec![
        start(0),
        route(0, "A", node(0)),
        route(0, "B", node(0)),
        route(0, "B", node(1)),
        route(1, "A", node(1)),
        route(1, "B", node(1)),
        route(1, "B", node(0)),
    ];
    let flow = graph("p q", edges);
    assert!(endless_at(&flow).is_empty());
    assert_eq!(endless_if_many(&flow, ""), [0]);
    assert_eq!(endless_if_many(&flow, "p"), [1]);
    assert_eq!(endless_if_many(&flow, "q"), [0]);
    assert!(endless_if_many(&flow, "p q").is_empty());
}

#[test]
fn pf010_lists() {
    // With items or without, `a` follows; unless an item of `b` fails and nothing else comes of it.
    let edges = |more: Vec<Edge>| [vec![start(0), each(0, 1), plain(1, node(0))], more].concat();
    assert_eq!(endless_at(&graph("a b", edges(vec![]))), [Site::Node(0)]);
    accepted("a b recover", edges(vec![catch(1, 2)]));
    // No item, no choice.
    accepted(
        "a b",
        vec![
            start(0),
            each(0, 1),
            route(1, "P", node(0)),
            route(1, "Q", node(0)),
        ],
    );
    // Two lists in a row: an empty one passes both.
    assert_eq!(
        endless_at(&graph(
            "a b c",
            vec![start(0), each(0, 1), each(1, 2), plain(2, node(0))]
        )),
        [Site::Node(0)]
    );
    accepted("a b c", vec![start(0), each(0, 1), each(1, 2), each(2, 0)]);
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
