//! Cycles that a run cannot leave.

use super::{accepted, check, only, says};
use crate::diagnostic::Location;
use crate::graph::{Edge, Graph};
use crate::idx::NodeIdx;
use crate::rule::Rule;
use crate::testing::{catch, each, end, graph, join, node, plain, route, side, start};
use crate::{Analysis, NodeFacts, verdicts_of};

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
        Location::Node(NodeIdx::new(1)),
        text,
    );
    let text = "the cycle `a -> a` has no way out: END cannot be reached from it; let a node of it choose a route, such as `a -> match { Again => .., Done => END }`";
    says(
        "a",
        vec![start(0), plain(0, node(0))],
        Rule::EndlessCycle,
        Location::Node(NodeIdx::new(0)),
        text,
    );
}

#[test]
fn g021_two_endless_cycles_are_two_diagnostics() {
    let edges = vec![
        start(0),
        plain(0, node(1)),
        plain(0, node(2)),
        plain(1, node(1)),
        plain(2, node(2)),
    ];
    let diagnostics = check(&graph("in a b", edges));
    assert_eq!(
        diagnostics
            .iter()
            .map(|diagnostic| (diagnostic.rule, diagnostic.at))
            .collect::<Vec<_>>(),
        [
            (Rule::EndlessCycle, Location::Node(NodeIdx::new(1))),
            (Rule::EndlessCycle, Location::Node(NodeIdx::new(2)))
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
        Location::Node(NodeIdx::new(0)),
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

#[test]
fn pf010_a_cycle_over_a_join_beside_a_branch_that_ends() {
    // `a & b -> c & d; c -> a & b; d -> END`: whenever `d` has ended its path, `c` has begun the next round.
    let edges = vec![
        start(0),
        start(1),
        plain(0, side(0)),
        plain(1, side(0)),
        join(0, node(2)),
        join(0, node(3)),
        plain(2, node(0)),
        plain(2, node(1)),
        plain(3, end()),
    ];
    let text = "the cycle `a -> c -> a` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route";
    says(
        "a b c d",
        edges.clone(),
        Rule::EndlessCycle,
        Location::Node(NodeIdx::new(0)),
        text,
    );
    // It can be left by a failure, or by a choice.
    let mut caught = edges.clone();
    caught.push(catch(2, 3));
    accepted("a b c d", caught);
    let mut chosen = edges;
    chosen[6] = route(2, "Again", node(0));
    chosen[7] = route(2, "Again", node(1));
    chosen.push(route(2, "Done", end()));
    accepted("a b c d", chosen);
}

/// The nodes at which cycles are reported without asking how many routes the nodes pick.
fn endless_at(graph: &Graph) -> Vec<Location> {
    let diagnostics = check(graph);
    assert!(
        diagnostics
            .iter()
            .all(|diagnostic| diagnostic.rule == Rule::EndlessCycle),
        "{diagnostics:?}"
    );
    diagnostics.iter().map(|diagnostic| diagnostic.at).collect()
}

/// The nodes at which cycles are reported if the nodes of these names pick several routes.
fn endless_if_many(graph: &Graph, many: &str) -> Vec<u32> {
    let node = |node: &crate::Node| NodeFacts {
        many: many.split_whitespace().any(|name| name == node.name),
        has_route: true,
        ..NodeFacts::new("node")
    };
    let nodes: Vec<NodeFacts<'_>> = graph.nodes.iter().map(node).collect();
    let analysis = Analysis::of(graph);
    let verdicts = verdicts_of(&analysis.tables(), &[], &nodes);
    let endless = (0..)
        .zip(&verdicts)
        .filter(|(_, verdict)| verdict.endless_cycle);
    endless.map(|(place, _)| place).collect()
}

#[test]
fn pf010_a_cycle_that_no_route_leaves() {
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
    let chooses = NodeFacts {
        has_route: true,
        ..NodeFacts::new("n")
    };
    let nodes = [chooses, NodeFacts::new("m")];
    let verdicts = verdicts_of(&Analysis::declared(&loops).tables(), &[], &nodes);
    let diagnostics = verdicts[0].diagnostics(NodeIdx::new(0), &[], &nodes);
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(
        diagnostics[0].to_string(),
        "PF010: the cycle through `n` has no way out: whichever route its nodes choose, one of them runs again, so the run cannot end; give one of its nodes a route that leaves the cycle, such as `Done => END`"
    );
    // A route that has no arm yet may be the way out, and a node that does not choose has another mistake.
    for unfinished in [
        NodeFacts {
            routes: &["P", "Q", "R"],
            ..chooses
        },
        NodeFacts::new("n"),
    ] {
        let nodes = [unfinished, NodeFacts::new("m")];
        let verdicts = verdicts_of(&Analysis::declared(&loops).tables(), &[], &nodes);
        assert!(!verdicts[0].endless_cycle);
    }
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
        Location::Node(NodeIdx::new(0)),
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
fn pf010_nodes_that_only_lead_into_a_cycle_are_not_reported() {
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
    assert_eq!(endless_at(&flow), [Location::Node(NodeIdx::new(1))]);
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
    // All of it, `p` by itself, and `q` by itself: whatever picks several, one diagnostic at most.
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
    assert_eq!(
        endless_at(&graph("a b", edges(vec![]))),
        [Location::Node(NodeIdx::new(0))]
    );
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
        [Location::Node(NodeIdx::new(0))]
    );
    accepted("a b c", vec![start(0), each(0, 1), each(1, 2), each(2, 0)]);
}

#[test]
fn pf010_a_failure_behind_a_list_leaves_the_cycle() {
    // An item of `a` may fail while the list for `c` is empty: then only `b` follows.
    accepted(
        "a b c",
        vec![
            start(0),
            plain(0, node(2)),
            catch(0, 1),
            plain(1, end()),
            catch(1, 2),
            each(2, 0),
            each(2, 2),
        ],
    );
}
