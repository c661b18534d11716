//! Two writes where one would be lost, and writes that replace.

use petalflow::node::Output;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::state::KeySet;

use crate::support::{
    Log, LogXs, appending, codes, expect_error, flow_and_graph, list, refusal, run_both,
};

appending!(a c d);

#[state]
#[derive(Debug, PartialEq)]
struct Plain {
    #[key(default)]
    v: u32,
    #[key(default)]
    w: u32,
    #[key(default)]
    map: std::collections::BTreeMap<String, u32>,
}

#[node(Plain)]
async fn one() -> PlainV {
    PlainV(1)
}

#[node(Plain)]
async fn two() -> PlainV {
    PlainV(2)
}

#[node(Plain)]
async fn maybe() -> Option<PlainV> {
    None
}

#[test]
fn c07_c08_g027_two_writers_of_a_plain_key_are_refused_when_the_graph_is_built() {
    // LangGraph detects it at run time and then fails forever on that thread (C08); in agentmesh the last writer wins.
    let graph = || {
        Graph::<Plain>::builder("g")
            .node(one {})
            .edge(START, "one")
            .edge(START, "two")
            .node(two {})
    };
    assert_eq!(
        refusal(graph()),
        "PF016: nodes `one` and `two` can run in one superstep and may both write `v`, so one value would be lost; give the key a reducer, or order the nodes"
    );
}

#[test]
fn c07_a_write_that_may_happen_counts() {
    let graph = Graph::<Plain>::builder("g")
        .node(one {})
        .node(maybe {})
        .edge(START, "one")
        .edge(START, "maybe");
    assert_eq!(codes(graph), ["PF016"]);
}

#[test]
fn c07_an_item_node_conflicts_with_itself() {
    let graph = Graph::<Plain>::builder("g")
        .node(some_items {})
        .node(take_item {})
        .edge(START, "some_items")
        .each("some_items", "take_item");
    assert!(
        refusal(graph)
            .starts_with("PF016: node `take_item` can run on several items in one superstep")
    );
}

#[node(Plain)]
async fn some_items() -> Each<u32> {
    Each(vec![1])
}

#[node(Plain)]
async fn take_item(#[item] number: &u32) -> PlainV {
    PlainV(*number)
}

#[derive(Route)]
enum Take {
    One(u32),
}

#[node(Plain)]
async fn takes_some() -> Vec<Take> {
    vec![Take::One(1), Take::One(2)]
}

#[test]
fn a_route_in_a_list_can_deliver_several_items() {
    let graph = Graph::<Plain>::builder("g")
        .node(takes_some {})
        .node(take_item {})
        .edge(START, "takes_some")
        .route("takes_some", "One", "take_item");
    assert!(
        refusal(graph)
            .starts_with("PF016: node `take_item` can run on several items in one superstep")
    );
}

flow_and_graph! { Ordered(Plain) { one -> two; } nodes: one, two }

#[tokio::test]
async fn c07_sequential_writes_do_not_conflict() {
    assert_eq!(
        run_both!(Ordered, |launch| launch.run(()).await.unwrap().v),
        2
    );
}

#[test]
fn c09_g014_one_result_that_writes_a_plain_key_twice_is_refused() {
    // agentmesh lets a later `With` of the same key overwrite the earlier one in silence.
    let graph = Graph::<Plain>::builder("g")
        .node_fn("both", |_, _| async { (PlainV(1), PlainV(2)) })
        .edge(START, "both");
    assert_eq!(
        refusal(graph),
        "PF019: node `both` writes `v` twice in one result, so one value would be lost; return it once, or give the key a reducer such as `append`"
    );
}

/// An output that hides what it writes, as only hand-written code can.
struct Unsaid;

impl Output<Plain> for Unsaid {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = ();

    fn apply(self, effects: &mut node::Effects<Plain>) -> petalflow::Result<()> {
        PlainV(3).apply(effects)
    }
}

#[node(Plain)]
async fn unsaid() -> Unsaid {
    Unsaid
}

#[node(Plain)]
async fn also_w() -> PlainW {
    PlainW(1)
}

flow_and_graph! { Hidden(Plain) { also_w -> one & unsaid; } nodes: also_w, one, unsaid }

#[tokio::test]
async fn c07_c08_a_conflict_at_run_time_fails_the_run_and_applies_nothing() {
    let (kind, text, state) = run_both!(Hidden, |launch| {
        let error = expect_error(launch.run(()).await);
        (
            error.kind().clone(),
            error.to_string(),
            format!("{:?}", error.state::<Plain>().unwrap()),
        )
    });
    let problem = "key `v`: takes one write in a superstep; give it a reducer such as `append` to take several".to_string();
    assert_eq!(
        kind,
        RunErrorKind::Write {
            nodes: vec!["one".into(), "unsaid".into()],
            problem
        }
    );
    assert!(
        text.contains("superstep 2") && text.contains("nothing of this superstep was applied"),
        "{text}"
    );
    assert_eq!(state, "Plain { v: 0, w: 1, map: {} }");
}

#[node(Plain)]
async fn map_a() -> PlainMap {
    PlainMap([("k".to_string(), 1)].into())
}

#[node(Plain)]
async fn map_b() -> PlainMap {
    PlainMap([("k".to_string(), 2)].into())
}

#[test]
fn c41_a_fan_in_of_maps_needs_a_reducer() {
    // Eino fails with "duplicated key" while it runs.
    let graph = Graph::<Plain>::builder("g")
        .node(map_a {})
        .node(map_b {})
        .edge(START, "map_a")
        .edge(START, "map_b");
    assert!(refusal(graph).contains("may both write `map`"));
}

#[node(Log)]
async fn clear() -> Overwrite<LogXs> {
    Overwrite(LogXs(list(["b"])))
}

#[node(Log)]
async fn clear_too() -> Overwrite<LogXs> {
    Overwrite(LogXs(list(["e"])))
}

flow_and_graph! { Sequential(Log) { a -> clear; } nodes: a, clear }

#[tokio::test]
async fn c14_an_overwrite_replaces_what_was_appended() {
    assert_eq!(
        run_both!(Sequential, |launch| launch
            .run(list(["START"]))
            .await
            .unwrap()
            .xs),
        ["b"]
    );
}

flow_and_graph! { Parallel(Log) { a -> clear & c; clear & c -> d; } nodes: a, clear, c, d }
flow_and_graph! { Middle(Log) { START -> a & clear & c; } nodes: a, clear, c }
flow_and_graph! { Last(Log) { START -> a & c & clear; } nodes: a, clear, c }

#[tokio::test]
async fn c15_an_overwrite_wins_at_every_position() {
    assert_eq!(
        run_both!(Parallel, |launch| launch
            .run(list(["START"]))
            .await
            .unwrap()
            .xs),
        ["b", "d"]
    );
    assert_eq!(
        run_both!(Middle, |launch| launch
            .run(list(["START"]))
            .await
            .unwrap()
            .xs),
        ["b"]
    );
    assert_eq!(
        run_both!(Last, |launch| launch.run(list(["START"])).await.unwrap().xs),
        ["b"]
    );
}

flow_and_graph! { TwoOverwrites(Log) { a -> clear & clear_too & c; } nodes: a, clear, clear_too, c }

#[tokio::test]
async fn c16_two_overwrites_of_one_key_in_one_superstep_are_an_error() {
    let (kind, xs) = run_both!(TwoOverwrites, |launch| {
        let error = expect_error(launch.run(vec![]).await);
        (
            error.kind().clone(),
            error.state::<Log>().unwrap().xs.clone(),
        )
    });
    // `c` wrote the key as well, but it is not what is wrong.
    let RunErrorKind::Write { nodes, problem } = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(problem, "key `xs`: takes one `Overwrite` in a superstep");
    assert!(
        nodes.starts_with(&list(["clear", "clear_too"])),
        "{nodes:?}"
    );
    assert_eq!(xs, ["a"], "the last barrier");
}

#[tokio::test]
async fn c08_after_a_conflict_the_same_graph_runs_again() {
    // Nothing of a failed run stays in the flow or the graph.
    let graph = TwoOverwrites::built();
    let first = expect_error(graph.run(vec![]).await).to_string();
    assert_eq!(expect_error(graph.run(vec![]).await).to_string(), first);
}

#[node(Log)]
async fn overwrite_and_append() -> (LogXs, Overwrite<LogXs>, LogXs) {
    (
        LogXs(list(["before"])),
        Overwrite(LogXs(list(["new"]))),
        LogXs(list(["after"])),
    )
}

flow_and_graph! { Alone(Log) { overwrite_and_append } nodes: overwrite_and_append }

#[tokio::test]
async fn c15_in_one_result_the_overwrite_wins_too() {
    assert_eq!(
        run_both!(Alone, |launch| launch.run(list(["old"])).await.unwrap().xs),
        ["new"]
    );
}
