//! A node whose failure another node catches.

use petalflow::NodeError;
use petalflow::prelude::*;

use super::failures::{bad, panics};
use crate::support::{
    Log, LogXs, Trace, appending, assert_log, expect_error, flow_and_graph, list, run_both,
};

appending!(a b c d);

#[node(Log)]
async fn always_failing(cx: Context, trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.record(format!("attempt {}", cx.attempt()));
    Err("on purpose".into())
}

#[node(Log)]
async fn handle(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!(
        "handled {} after {} attempts: {}",
        failure.node, failure.attempt, failure.message
    )])
}

flow_and_graph! {
    Caught(Log) { a -> always_failing -> b; catch always_failing -> handle; handle -> c; with always_failing { retry: 2 } }
    nodes: a, always_failing = |b| b.node(always_failing {}).retry("always_failing", [petalflow::policy::Retry::attempts(2)]), b, handle, c
}

#[tokio::test(start_paused = true)]
async fn c59_the_catch_edge_fires_only_after_all_retries() {
    let (xs, trace_lines) = run_both!(Caught, |launch| {
        let trace = Trace::default();
        (
            launch.manage(trace.clone()).run(vec![]).await.unwrap().xs,
            trace.all(),
        )
    });
    assert_eq!(trace_lines, ["attempt 1", "attempt 2"]);
    assert_eq!(
        xs,
        [
            "a",
            "handled always_failing after 2 attempts: on purpose",
            "c"
        ],
        "`b` follows only a success"
    );
}

#[derive(Route)]
enum Next {
    C,
    D,
}

#[node(Log)]
async fn handle_and_route(#[item] failure: &NodeError) -> (LogXs, Next) {
    let next = if failure.message == "on purpose" {
        Next::D
    } else {
        Next::C
    };
    (LogXs(list(["handled"])), next)
}

flow_and_graph! { Routed(Log) { always_failing -> b; catch always_failing -> handle_and_route; handle_and_route -> c | d; } nodes: always_failing, b, handle_and_route, c, d }

#[tokio::test]
async fn c59_a_catching_node_may_route() {
    assert_eq!(
        run_both!(Routed, |launch| launch
            .manage(Trace::default())
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["handled", "d"]
    );
}

#[node(Log)]
async fn handler_fails(#[item] failure: &NodeError) -> petalflow::Result<LogXs> {
    Err(format!("handler failed on {}", failure.node).into())
}

flow_and_graph! { BadHandler(Log) { bad -> b; catch bad -> handler_fails; } nodes: bad, b, handler_fails }

#[tokio::test]
async fn c59_a_failure_of_the_catching_node_fails_the_run() {
    let text = run_both!(BadHandler, |launch| expect_error(launch.run(vec![]).await)
        .to_string());
    assert_eq!(
        text,
        "node `handler_fails` failed in superstep 2: handler failed on bad"
    );
}

#[node(Log)]
async fn fail_a() -> petalflow::Result<()> {
    Err("a".into())
}

#[node(Log)]
async fn fail_b() -> petalflow::Result<()> {
    Err("b".into())
}

#[node(Log)]
async fn handle_a(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!("handled {} by a", failure.message)])
}

#[node(Log)]
async fn handle_b(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!("handled {} by b", failure.message)])
}

flow_and_graph! {
    Own(Log) { START -> fail_a & fail_b; catch fail_a -> handle_a; catch fail_b -> handle_b; }
    nodes: fail_a, fail_b, handle_a, handle_b
}
flow_and_graph! {
    Shared(Log) { START -> fail_a & fail_b; catch fail_a -> handle; catch fail_b -> handle; }
    nodes: fail_a, fail_b, handle
}
flow_and_graph! { Uncaught(Log) { START -> fail_a & fail_b; catch fail_a -> handle_a; } nodes: fail_a, fail_b, handle_a }

#[tokio::test]
async fn c59_each_failure_reaches_its_own_handler() {
    assert_log!(Own, ["handled a by a", "handled b by b"]);
    let both = run_both!(Shared, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(
        both,
        [
            "handled fail_a after 1 attempts: a",
            "handled fail_b after 1 attempts: b"
        ]
    );
    assert_eq!(
        run_both!(Uncaught, |launch| expect_error(launch.run(vec![]).await)
            .node()
            .map(String::from)),
        Some("fail_b".into())
    );
}

flow_and_graph! { CaughtPanic(Log) { a -> panics -> b; catch panics -> handle; } nodes: a, panics, b, handle }

#[tokio::test]
async fn c59_a_panic_is_caught_like_any_failure() {
    assert_log!(
        CaughtPanic,
        ["a", "handled panics after 1 attempts: panicked: no 1"]
    );
}

#[node(Log)]
async fn three() -> Each<u32> {
    Each(vec![0, 1, 2])
}

#[node(Log)]
async fn odd_is_bad(#[item] number: &u32) -> petalflow::Result<LogXs> {
    if number % 2 == 1 {
        Err(format!("{number} is odd").into())
    } else {
        Ok(LogXs(vec![number.to_string()]))
    }
}

flow_and_graph! {
    SomeItemsFail(Log) { three -> each odd_is_bad -> b; catch odd_is_bad -> handle; handle -> c; }
    nodes: three, odd_is_bad, b, handle, c
}

#[tokio::test]
async fn c59_failed_items_of_a_batch_are_caught_and_the_others_finish() {
    let xs = run_both!(SomeItemsFail, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(
        xs,
        [
            "0",
            "2",
            "b",
            "handled odd_is_bad after 1 attempts: 1 is odd",
            "c"
        ]
    );
}

#[state]
struct Value {
    #[key(default)]
    v: u32,
}

#[node(Value)]
async fn many_values() -> Each<u32> {
    Each(vec![0, 1])
}

#[node(Value)]
async fn may_fail(#[item] number: &u32) -> petalflow::Result<()> {
    if *number == 1 {
        Err("one".into())
    } else {
        Ok(())
    }
}

#[node(Value)]
async fn on_success() -> ValueV {
    ValueV(1)
}

#[node(Value)]
async fn on_failure(#[item] _failure: &NodeError) -> ValueV {
    ValueV(2)
}

#[test]
fn c07_the_successor_of_a_batch_runs_beside_the_catching_node() {
    let graph = Graph::<Value>::builder("g")
        .node(many_values {})
        .node(may_fail {})
        .node(on_success {})
        .node(on_failure {});
    let graph = graph
        .edge(START, "many_values")
        .each("many_values", "may_fail")
        .edge("may_fail", "on_success")
        .catch("may_fail", "on_failure");
    assert_eq!(crate::support::codes(graph), ["PF016"]);
}
