//! `each`: one run per item, and what follows a batch.

use petalflow::prelude::*;

use crate::support::{Log, LogXs, appending, assert_log, flow_and_graph, list, run_both};

appending!(after other last);

/// The number of items that two planners send.
#[state]
#[derive(Debug, PartialEq)]
struct Plan {
    #[key(input)]
    left: u32,
    #[key(input)]
    right: u32,
    #[key(append)]
    xs: Vec<String>,
}

#[node(Plan)]
async fn plan_left(left: &u32) -> Each<String> {
    (0..*left).map(|i| format!("left {i}")).collect()
}

#[node(Plan)]
async fn plan_right(right: &u32) -> Each<String> {
    (0..*right).map(|i| format!("right {i}")).collect()
}

#[node(Plan)]
async fn work(#[item] item: &str, cx: Context) -> PlanXs {
    // Later items finish first.
    for _ in cx.index().unwrap()..10 {
        tokio::task::yield_now().await;
    }
    PlanXs(vec![format!("{item} at {}", cx.index().unwrap())])
}

#[node(Plan)]
async fn gather(xs: &[String]) -> PlanXs {
    PlanXs(vec![format!("gathered {}", xs.len())])
}

flow_and_graph! {
    TwoSenders(Plan) { START -> plan_left & plan_right; plan_right -> each work; plan_left -> each work; work -> gather; }
    nodes: plan_left, plan_right, work, gather
}

fn plan(left: u32, right: u32) -> PlanInput {
    PlanInput { left, right }
}

#[tokio::test]
async fn items_run_in_the_order_of_their_senders_and_then_of_their_index() {
    let xs = run_both!(TwoSenders, |launch| launch
        .run(plan(2, 3))
        .await
        .unwrap()
        .xs);
    assert_eq!(
        xs,
        [
            "left 0 at 0",
            "left 1 at 1",
            "right 0 at 2",
            "right 1 at 3",
            "right 2 at 4",
            "gathered 5"
        ]
    );
}

#[tokio::test]
async fn an_empty_batch_fires_its_successor() {
    assert_eq!(
        run_both!(TwoSenders, |launch| launch
            .run(plan(0, 0))
            .await
            .unwrap()
            .xs),
        ["gathered 0"]
    );
}

#[tokio::test]
async fn a_sender_without_items_adds_nothing_to_the_batch_of_another() {
    assert_eq!(
        run_both!(TwoSenders, |launch| launch
            .run(plan(1, 0))
            .await
            .unwrap()
            .xs),
        ["left 0 at 0", "gathered 1"]
    );
    assert_eq!(
        run_both!(TwoSenders, |launch| launch
            .run(plan(0, 1))
            .await
            .unwrap()
            .xs),
        ["right 0 at 0", "gathered 1"]
    );
}

#[node(Log)]
async fn some() -> Each<u32> {
    Each(vec![1, 2, 3])
}

#[node(Log)]
async fn none() -> Each<u32> {
    Each(vec![])
}

#[derive(Route)]
enum Way {
    After,
    Other,
    Last,
}

#[node(Log)]
async fn sort(#[item] number: &u32) -> (LogXs, Way) {
    let way = match number {
        2 => Way::Other,
        1..=3 => Way::After,
        _ => Way::Last,
    };
    (LogXs(vec![number.to_string()]), way)
}

flow_and_graph! { Sorted(Log) { some -> each sort; sort -> after | other | last; } nodes: some, sort, after, other, last }
flow_and_graph! { NoneSorted(Log) { none -> each sort; sort -> after | other | last; } nodes: none, sort, after, other, last }

#[tokio::test]
async fn items_with_routes_fire_the_union_of_their_targets() {
    assert_log!(Sorted, ["1", "2", "3", "after", "other"]);
    assert_eq!(
        run_both!(NoneSorted, |launch| launch.run(vec![]).await.unwrap().xs),
        [""; 0],
        "nobody chose"
    );
}

#[node(Log)]
async fn split(#[item] number: &u32) -> (LogXs, Each<String>) {
    let parts = (0..*number - 1)
        .map(|part| format!("{number}.{part}"))
        .collect();
    (LogXs(vec![number.to_string()]), parts)
}

#[node(Log)]
async fn part(#[item] part: &String) -> LogXs {
    LogXs(vec![part.clone()])
}

flow_and_graph! { Nested(Log) { some -> each split -> each part -> after; } nodes: some, split, part, after }
flow_and_graph! { NestedEmpty(Log) { none -> each split -> each part -> after; } nodes: none, split, part, after }

#[tokio::test]
async fn items_may_send_items() {
    assert_log!(Nested, ["1", "2", "3", "2.0", "3.0", "3.1", "after"]);
    assert_eq!(
        run_both!(NestedEmpty, |launch| launch.run(vec![]).await.unwrap().xs),
        ["after"],
        "no items of no items"
    );
}

#[node(Log)]
async fn echo(#[item] number: &u32) -> LogXs {
    LogXs(vec![number.to_string()])
}

flow_and_graph! { Join(Log) { START -> some & other; some -> each echo; echo & other -> after; } nodes: some, other, echo, after }
flow_and_graph! { JoinEmpty(Log) { START -> none & other; none -> each echo; echo & other -> after; } nodes: none, other, echo, after }

#[tokio::test]
async fn a_batch_arrives_once_at_a_join() {
    assert_log!(Join, ["other", "1", "2", "3", "after"]);
    assert_log!(JoinEmpty, ["other", "after"]);
}

flow_and_graph! { Beside(Log) { some -> each echo & other; echo -> after; } nodes: some, echo, other, after }

#[tokio::test]
async fn each_and_a_plain_edge_fire_together() {
    assert_log!(Beside, ["1", "2", "3", "other", "after"]);
}

flow_and_graph! {
    LateItems(Log) { START -> some & other; some -> each echo; other -> last -> after; defer echo; }
    nodes: some, other, echo, last, after
}

#[tokio::test]
async fn items_of_a_deferred_node_run_last() {
    assert_log!(LateItems, ["other", "last", "after", "1", "2", "3"]);
}

/// Two routes with a payload for one node.
#[derive(Route)]
enum Call {
    Name(String),
    Hang,
}

#[node(Log)]
async fn call_a() -> Call {
    if std::hint::black_box(false) {
        Call::Hang
    } else {
        Call::Name("a".into())
    }
}

#[node(Log)]
async fn call_b() -> Call {
    Call::Name("b".into())
}

#[node(Log)]
async fn answer(#[item] name: &String) -> LogXs {
    LogXs(vec![format!("hello {name}")])
}

flow_and_graph! {
    Calls(Log) {
        START -> call_a & call_b;
        call_a -> match { Name => answer, Hang => END };
        call_b -> match { Name => answer, Hang => END };
        answer -> after;
    }
    nodes: call_a, call_b, answer, after
}

#[tokio::test]
async fn a_node_runs_once_per_payload_that_is_delivered_to_it() {
    assert_log!(Calls, ["hello a", "hello b", "after"]);
}

#[derive(Route)]
enum Dig {
    At(u32),
    All(Vec<u32>),
    Beside(u32),
    Rest,
}

#[node(Log)]
async fn digs() -> Vec<Dig> {
    vec![
        Dig::At(1),
        Dig::Rest,
        Dig::All(vec![2, 3]),
        Dig::Beside(4),
        Dig::At(5),
        Dig::All(vec![]),
        Dig::Rest,
        Dig::All(vec![6]),
    ]
}

flow_and_graph! {
    DigsAll(Log) { digs -> match { At => echo, All => each echo, Beside => echo, Rest => after }; }
    nodes: digs, echo, after
}

#[tokio::test]
async fn each_payload_of_a_route_in_a_list_is_delivered_in_order() {
    assert_log!(DigsAll, ["1", "2", "3", "4", "5", "6", "after"]);
}

#[tokio::test]
async fn a_loop_over_items_restarts_their_indexes() {
    assert_eq!(
        run_both!(Again, |launch| launch.run(list(["x"])).await.unwrap().xs),
        ["x", "0", "0", "1", "0", "1", "2", "3"]
    );
}

#[node(Log)]
async fn as_many(xs: &[String]) -> Each<usize> {
    (0..xs.len()).collect()
}

#[node(Log)]
async fn number(#[item] item: &usize, cx: Context) -> LogXs {
    assert_eq!(cx.index(), Some(*item));
    LogXs(vec![item.to_string()])
}

#[node(Log)]
async fn enough(xs: &[String]) -> bool {
    // The batches are of 1, 2 and 4 items.
    xs.len() > 6
}

flow_and_graph! {
    Again(Log) { START -> as_many; as_many -> each number -> enough; enough -> match { true => END, false => as_many }; }
    nodes: as_many, number, enough
}
