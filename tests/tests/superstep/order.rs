//! In which order writes fold, and what a superstep sees.

use std::time::Duration;

use petalflow::event::EventKind;
use petalflow::prelude::*;
use tokio::time::sleep;

use crate::support::{Log, LogXs, Trace, appending, assert_log, flow_and_graph, list, run_both};

appending!(one three_one z n10 n9 B join);

#[node(Log)]
async fn a(cx: Context) -> LogXs {
    sleep(Duration::from_millis(150)).await;
    LogXs(vec![cx.node().into()])
}

#[node(Log)]
async fn b(cx: Context) -> LogXs {
    sleep(Duration::from_millis(70)).await;
    LogXs(vec![cx.node().into()])
}

#[node(Log)]
async fn c(cx: Context) -> LogXs {
    LogXs(vec![cx.node().into()])
}

flow_and_graph! { Uneven(Log) { START -> c & a & b; } nodes: a, b, c }

#[tokio::test(start_paused = true)]
async fn c01_concurrent_writes_fold_in_declaration_order_not_in_completion_order() {
    let xs = run_both!(Uneven, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(xs, ["c", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn c01_events_have_the_order_of_completion() {
    let done = run_both!(Uneven, |launch| {
        let mut events = launch.run(vec![]).events();
        let mut done = Vec::new();
        while let Some(event) = events.next().await {
            match &event.kind {
                EventKind::NodeFinished { .. } => done.push(event.node().unwrap().to_string()),
                EventKind::Finished { state } => assert_eq!(state.xs, ["c", "a", "b"]),
                _ => {}
            }
        }
        done
    });
    assert_eq!(done, ["c", "b", "a"]);
}

#[tokio::test(start_paused = true)]
async fn peers_parallel_nodes_run_concurrently() {
    let begun = tokio::time::Instant::now();
    Uneven::run(vec![]).await.unwrap();
    assert_eq!(
        begun.elapsed(),
        Duration::from_millis(150),
        "the longest wait, not the sum"
    );
}

flow_and_graph! { Unsorted(Log) { START -> a & B & n10 & n9; } nodes: a, B, n10, n9 }

#[tokio::test(start_paused = true)]
async fn c02_the_order_is_that_of_the_declaration_not_of_the_names() {
    let xs = run_both!(Unsorted, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(xs, ["a", "B", "n10", "n9"]);
}

#[node(Log)]
async fn twelve() -> Each<u32> {
    (0..12).collect()
}

#[node(Log)]
async fn worker(#[item] number: &u32) -> LogXs {
    // The later the item, the sooner it is done.
    sleep(Duration::from_millis(u64::from(100 - number))).await;
    LogXs(vec![number.to_string()])
}

flow_and_graph! { SendsLast(Log) { twelve -> a & z & each worker; } nodes: twelve, a, z, worker }
flow_and_graph! { SendsFirst(Log) { twelve -> each worker & a & z; } nodes: twelve, a, z, worker }

#[tokio::test(start_paused = true)]
async fn c03_items_fold_in_send_order_at_the_index_of_their_node() {
    let sent: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    let last = run_both!(SendsLast, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(
        last,
        [list(["a", "z"]), sent.clone()].concat(),
        "10 and 11 are not sorted as text"
    );
    let first = run_both!(SendsFirst, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(first, [sent, list(["a", "z"])].concat());
}

#[node(Log)]
async fn first() -> (LogXs, Each<u8>) {
    (LogXs(list(["1"])), Each(vec![0, 0]))
}

#[node(Log)]
async fn second(#[item] _state: &u8) -> LogXs {
    LogXs(list(["2"]))
}

#[node(Log)]
async fn third() -> LogXs {
    LogXs(list(["3"]))
}

flow_and_graph! { AfterSends(Log) { first -> each second -> third; } nodes: first, second, third }

#[tokio::test]
async fn c04_a_node_after_the_items_runs_once() {
    let xs = run_both!(AfterSends, |launch| launch
        .run(list(["0"]))
        .await
        .unwrap()
        .xs);
    assert_eq!(xs, ["0", "1", "2", "2", "3"]);
}

/// What is sent to `resend`: a number to send on, or to record.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Send {
    On(u32),
    Say(u32),
}

#[node(Log)]
async fn start() -> (LogXs, Each<Send>) {
    (LogXs(list(["1"])), Each(vec![Send::On(3), Send::On(4)]))
}

#[node(Log)]
async fn resend(#[item] send: &Send) -> (LogXs, Each<Send>) {
    match send {
        Send::On(number) => (
            LogXs(vec![format!("2|on {number}")]),
            Each(vec![Send::Say(*number)]),
        ),
        Send::Say(number) => (LogXs(vec![format!("2|{number}")]), Each(vec![])),
    }
}

flow_and_graph! {
    Resend(Log) {
        START -> start;
        third -> END;
        start -> three_one & each resend;
        resend -> each resend & third;
    }
    nodes: start, third, three_one, resend
}

#[tokio::test]
async fn c06_a_sent_task_may_itself_send() {
    let xs = run_both!(Resend, |launch| launch.run(list(["0"])).await.unwrap().xs);
    // LangGraph, with its own names: ["0","1","3.1","2|Command(3)","2|Command(4)","3","2|3","2|4","3"].
    assert_eq!(
        xs,
        [
            "0",
            "1",
            "three_one",
            "2|on 3",
            "2|on 4",
            "3",
            "2|3",
            "2|4",
            "3"
        ]
    );
}

/// Two plain values beside each other.
#[state]
#[derive(Debug, PartialEq)]
struct Pair {
    #[key(default)]
    value: u32,
    #[key(default)]
    left: u32,
    #[key(default)]
    right: u32,
}

#[node(Pair)]
async fn init() -> PairValue {
    PairValue(10)
}

#[node(Pair)]
async fn left_reader(value: &u32) -> PairLeft {
    PairLeft(*value + 1)
}

#[node(Pair)]
async fn right_reader(value: &u32) -> PairRight {
    tokio::task::yield_now().await;
    PairRight(*value + 1)
}

flow_and_graph! { Isolated(Pair) { init -> left_reader & right_reader; } nodes: init, left_reader, right_reader }

#[tokio::test]
async fn c17_g024_p073_all_nodes_of_a_superstep_read_one_snapshot() {
    // agentmesh lets both write one Replace key and silently stores one of the 11s; here that is refused (C07), so each has
    // a key of its own.
    let pair = run_both!(Isolated, |launch| launch.run(()).await.unwrap());
    assert_eq!(
        pair,
        Pair {
            value: 10,
            left: 11,
            right: 11
        }
    );
}

#[node(Pair)]
async fn write_42() -> PairValue {
    PairValue(42)
}

/// Reads after `write_42` has finished, in the same superstep.
#[node(Pair)]
async fn read_beside(state: &Pair) -> PairLeft {
    tokio::task::yield_now().await;
    PairLeft(state.value)
}

flow_and_graph! { Buffered(Pair) { START -> write_42 & read_beside; write_42 & read_beside -> right_reader; } nodes: write_42, read_beside, right_reader }

#[tokio::test]
async fn c18_g025_a_write_is_visible_only_after_the_barrier() {
    let pair = run_both!(Buffered, |launch| launch.run(()).await.unwrap());
    assert_eq!(
        pair,
        Pair {
            value: 42,
            left: 0,
            right: 43
        }
    );
}

#[node(Log)]
async fn tag1() -> LogXs {
    LogXs(list(["tag1"]))
}

#[node(Log)]
async fn tag2() -> LogXs {
    LogXs(list(["tag2"]))
}

#[node(Log)]
async fn tag3() -> LogXs {
    LogXs(list(["tag3"]))
}

flow_and_graph! { Tags(Log) { tag1 -> tag2 -> tag3; } nodes: tag1, tag2, tag3 }

#[tokio::test]
async fn c20_g028_appends_keep_their_sequence_over_supersteps() {
    assert_log!(Tags, ["tag1", "tag2", "tag3"]);
}

#[node(Log)]
async fn hundred() -> Each<u32> {
    (0..100).collect()
}

#[node(Log)]
async fn note(#[item] number: &u32) -> LogXs {
    if number.is_multiple_of(3) {
        tokio::task::yield_now().await;
    }
    LogXs(vec![number.to_string()])
}

flow_and_graph! { Hundred(Log) { hundred -> each note; } nodes: hundred, note }

#[tokio::test]
async fn g026_parallel_appends_all_survive() {
    let xs = run_both!(Hundred, |launch| launch.run(vec![]).await.unwrap().xs);
    let all: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    assert_eq!(xs, all);
}

#[tokio::test]
async fn p077_peers_the_result_is_the_same_in_every_run() {
    let first = Hundred::run(vec![]).await.unwrap();
    for _ in 0..20 {
        assert_eq!(Hundred::run(vec![]).await.unwrap(), first);
    }
}

flow_and_graph! { Diamond(Log) { START -> c & z; c -> one; z -> one; } nodes: c, z, one }

#[tokio::test]
async fn g029_c33_two_senders_in_one_superstep_activate_a_node_once() {
    assert_log!(Diamond, ["c", "z", "one"]);
}

/// Each records when it begins.
#[node(Log)]
async fn spoken(cx: Context, trace: Managed<Trace>) {
    trace.record(cx.node());
}

flow_and_graph! {
    Begin(Log) { node zeta = spoken; node beta = spoken; node alpha = spoken; START -> zeta & beta & alpha; }
    nodes: zeta = |b| b.node_as("zeta", spoken {}), beta = |b| b.node_as("beta", spoken {}), alpha = |b| b.node_as("alpha", spoken {})
}

#[tokio::test]
async fn g030_nodes_begin_in_a_fixed_order() {
    // agentmesh sorts the names before scheduling; here the order is that of the declaration.
    let begun = run_both!(Begin, |launch| {
        let trace = Trace::default();
        launch.manage(trace.clone()).run(vec![]).await.unwrap();
        trace.all()
    });
    assert_eq!(begun, ["zeta", "beta", "alpha"]);
}

flow_and_graph! { JoinTwice(Log) { START -> one -> third & z; third & z -> join; } nodes: one, third, z, join }

#[tokio::test]
async fn p064_peers_a_fan_in_runs_once_not_once_per_branch() {
    assert_log!(JoinTwice, ["one", "3", "z", "join"]);
}

#[tokio::test]
async fn c10_several_writes_of_one_node_fold_in_their_order() {
    let (doc, updates) = run_both!(Twice, |launch| {
        let mut events = launch.run(()).events();
        let (mut doc, mut updates) = (None, Vec::new());
        while let Some(event) = events.next().await {
            match event.kind {
                EventKind::NodeFinished { update, .. } => updates.push(
                    update
                        .of::<DocFoo>()
                        .iter()
                        .map(|write| write.value().clone())
                        .collect::<Vec<_>>(),
                ),
                EventKind::Finished { state } => doc = Some(state),
                _ => {}
            }
        }
        (doc, updates)
    });
    assert_eq!(doc.unwrap().foo, "a1a2b");
    assert_eq!(updates, [list(["a1", "a2"]), list(["b"])]);
}

#[state]
#[derive(Debug, PartialEq)]
struct Doc {
    #[key(append)]
    foo: String,
}

#[node(Doc)]
async fn write_twice() -> (DocFoo, DocFoo) {
    (DocFoo("a1".into()), DocFoo("a2".into()))
}

#[node(Doc)]
async fn write_once() -> DocFoo {
    DocFoo("b".into())
}

flow_and_graph! { Twice(Doc) { write_twice -> write_once; } nodes: write_twice, write_once }
