//! Joins that can be left waiting.

use super::{accepted, check, only, says};
use crate::diagnostic::Location;
use crate::idx::JoinIdx;
use crate::rule::Rule;
use crate::testing::{catch, end, graph, join, node, plain, route, side, start};

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
    let text = "the join `b & c` can wait forever: `a` may choose a route that does not lead to `c`; to run `d` once after the sides that do run, use plain edges `b -> d`, `c -> d` and `defer d`";
    let edges = vec![
        start(0),
        route(0, "B", node(1)),
        route(0, "C", node(2)),
        plain(1, side(0)),
        plain(2, side(0)),
        join(0, node(3)),
    ];
    says(
        "a b c d",
        edges,
        Rule::StuckJoin,
        Location::Join(JoinIdx::new(0)),
        text,
    );
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
    let text = "the join `a & b` can wait forever: `b` may fail, and a node that has failed does not arrive; to run `c` once after the sides that do run, use plain edges `a -> c`, `b -> c` and `defer c`";
    says(
        "a b c recover",
        edges,
        Rule::StuckJoin,
        Location::Join(JoinIdx::new(0)),
        text,
    );
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
    let text = "the join `a & c` can wait forever: the other sides can arrive more often than `c`; to run `d` once after the sides that do run, use plain edges `a -> d`, `c -> d` and `defer d`";
    let edges = vec![
        start(0),
        start(1),
        start(2),
        plain(1, node(0)),
        plain(0, side(0)),
        plain(2, side(0)),
        join(0, node(3)),
    ];
    says(
        "a b c d",
        edges,
        Rule::StuckJoin,
        Location::Join(JoinIdx::new(0)),
        text,
    );
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
    assert_eq!(
        only(&graph("a b c d e f", edges)).at,
        Location::Join(JoinIdx::new(0))
    );
}
