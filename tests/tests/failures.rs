//! A node that fails: what stops, what stays, who catches it.

use std::error::Error as _;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::{FailureKind, NodeError, RunErrorKind};
use tokio::time::sleep;

use crate::support::{Log, LogXs, Trace, appending, both, failed, kind, list, twin};

appending!(a b c d);

#[derive(Debug, thiserror::Error)]
#[error("the well is dry")]
struct Dry;

#[derive(Debug, thiserror::Error)]
#[error("no water")]
struct NoWater(#[source] Dry);

#[node(Log)]
async fn bad() -> Result<LogXs, NoWater> {
    Err(NoWater(Dry))
}

twin! { Fail(Log) { a -> bad -> b; } nodes: a, bad, b }

#[tokio::test]
async fn g033_a_node_error_stops_the_run_and_keeps_its_source() {
    let (kind, text, superstep, node, xs) = both!(Fail, |launch| {
        let error = failed(launch.run(vec![]).await);
        let source = error
            .source()
            .and_then(|source| source.downcast_ref::<NoWater>())
            .expect("the node's own error");
        assert_eq!(source.source().unwrap().to_string(), "the well is dry");
        let xs = error.state::<Log>().unwrap().xs.clone();
        (
            error.kind().clone(),
            error.to_string(),
            error.superstep(),
            error.node().map(String::from),
            xs,
        )
    });
    let RunErrorKind::Node(error) = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(
        (
            error.node.as_str(),
            error.superstep,
            error.attempt,
            error.kind
        ),
        ("bad", 2, 1, FailureKind::Error)
    );
    assert_eq!(
        text,
        "node `bad` failed in superstep 2: no water: the well is dry"
    );
    assert_eq!((superstep, node.as_deref()), (2, Some("bad")));
    assert_eq!(xs, ["a"], "the last barrier, and `b` did not run");
}

/// A total that must not grow too large.
#[state]
#[derive(Debug, PartialEq)]
#[allow(clippy::struct_field_names, reason = "named as in the case")]
struct Total {
    #[key(input)]
    x: u32,
    #[key(input, sum)]
    total: u32,
    #[key(default)]
    output: u32,
}

#[node(Total)]
async fn one(x: &u32, total: &u32) -> petalflow::Result<(TotalOutput, TotalTotal)> {
    let sum = total + x;
    if sum > 10 {
        Err("Input is too large".into())
    } else {
        Ok((TotalOutput(sum), TotalTotal(sum)))
    }
}

twin! { AddTotal(Total) { one } nodes: one }

#[tokio::test]
async fn c48_a_failed_superstep_applies_nothing() {
    let run = |x, total| async move {
        both!(AddTotal, |launch| {
            match launch.run(TotalInput { x, total }).await {
                Ok(state) => (state, None),
                Err(error) => (
                    error
                        .state::<Total>()
                        .map(|state| Total { ..*state })
                        .unwrap(),
                    Some(error.to_string()),
                ),
            }
        })
    };
    assert_eq!(
        run(2, 0).await.0,
        Total {
            x: 2,
            total: 2,
            output: 2
        }
    );
    assert_eq!(
        run(3, 2).await.0,
        Total {
            x: 3,
            total: 7,
            output: 5
        }
    );
    let (state, error) = run(4, 7).await;
    assert_eq!(
        error.unwrap(),
        "node `one` failed in superstep 1: Input is too large"
    );
    assert_eq!(
        state,
        Total {
            x: 4,
            total: 7,
            output: 0
        }
    );
    assert_eq!(
        run(5, 0).await.0,
        Total {
            x: 5,
            total: 5,
            output: 5
        }
    );
}

#[node(Log)]
async fn quick() -> LogXs {
    LogXs(list(["quick"]))
}

#[node(Log)]
async fn slow(trace: Managed<Trace>) -> LogXs {
    let _guard = trace.guard("slow");
    sleep(Duration::from_secs(1)).await;
    trace.say("slow is done");
    LogXs(list(["slow"]))
}

#[node(Log)]
async fn fast_bad() -> petalflow::Result<LogXs> {
    sleep(Duration::from_millis(10)).await;
    Err("too fast".into())
}

twin! { Siblings(Log) { a -> slow & fast_bad & quick; slow & fast_bad & quick -> b; } nodes: a, slow, fast_bad, quick, b }

#[tokio::test(start_paused = true)]
async fn c56_the_first_failure_cancels_siblings_in_flight_and_keeps_what_has_finished() {
    let (xs, pending, said, elapsed) = both!(Siblings, |launch| {
        let (trace, begun) = (Trace::default(), tokio::time::Instant::now());
        let error = failed(launch.manage(trace.clone()).run(vec![]).await);
        assert_eq!(error.node(), Some("fast_bad"));
        let pending: Vec<_> = error
            .pending::<Log>()
            .map(|(node, update)| (node.to_string(), update.xs().only().cloned()))
            .collect();
        (
            error.state::<Log>().unwrap().xs.clone(),
            pending,
            trace.all(),
            begun.elapsed(),
        )
    });
    assert_eq!(xs, ["a"]);
    assert_eq!(
        pending,
        [("quick".to_string(), Some(list(["quick"])))],
        "beside the state, not in it"
    );
    assert_eq!(said, ["dropped slow"]);
    assert!(elapsed < Duration::from_millis(100), "{elapsed:?}");
}

#[node(Log)]
async fn panics(xs: &[String]) -> LogXs {
    panic!("no {}", xs.len())
}

twin! { Panic(Log) { a -> panics; } nodes: a, panics }
twin! { PanicInFork(Log) { a -> b & panics & slow; } nodes: a, b, panics, slow }

#[tokio::test(start_paused = true)]
async fn g034_a_panic_is_a_failure_of_its_node() {
    let check = |kind: RunErrorKind| {
        let RunErrorKind::Node(error) = kind else {
            panic!("{kind:?}")
        };
        assert_eq!(
            (error.node.as_str(), error.kind, error.message.as_str()),
            ("panics", FailureKind::Panic, "panicked: no 1")
        );
    };
    check(both!(Panic, |launch| kind(launch.run(vec![]).await)));
    check(both!(PanicInFork, |launch| kind(
        launch.manage(Trace::default()).run(vec![]).await
    )));
}

#[node(Log)]
async fn always_failing(cx: Context, trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.say(format!("attempt {}", cx.attempt()));
    Err("on purpose".into())
}

#[node(Log)]
async fn handle(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!(
        "handled {} after {} attempts: {}",
        failure.node, failure.attempt, failure.message
    )])
}

twin! {
    Caught(Log) { a -> always_failing -> b; catch always_failing -> handle; handle -> c; with always_failing { retry: 2 } }
    nodes: a, always_failing = |b| b.node(always_failing {}).retry("always_failing", [petalflow::Retry::times(2)]), b, handle, c
}

#[tokio::test(start_paused = true)]
async fn c59_retries_come_first_and_then_the_catch_edge_alone() {
    let (xs, said) = both!(Caught, |launch| {
        let trace = Trace::default();
        (
            launch.manage(trace.clone()).run(vec![]).await.unwrap().xs,
            trace.all(),
        )
    });
    assert_eq!(said, ["attempt 1", "attempt 2"]);
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

twin! { Routed(Log) { always_failing -> b; catch always_failing -> handle_and_route; handle_and_route -> c | d; } nodes: always_failing, b, handle_and_route, c, d }

#[tokio::test]
async fn c59_what_catches_may_route() {
    assert_eq!(
        both!(Routed, |launch| launch
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

twin! { BadHandler(Log) { bad -> b; catch bad -> handler_fails; } nodes: bad, b, handler_fails }

#[tokio::test]
async fn c59_a_failure_of_what_catches_fails_the_run() {
    let text = both!(BadHandler, |launch| failed(launch.run(vec![]).await)
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

twin! {
    Own(Log) { START -> fail_a & fail_b; catch fail_a -> handle_a; catch fail_b -> handle_b; }
    nodes: fail_a, fail_b, handle_a, handle_b
}
twin! {
    Shared(Log) { START -> fail_a & fail_b; catch fail_a -> handle; catch fail_b -> handle; }
    nodes: fail_a, fail_b, handle
}
twin! { Uncaught(Log) { START -> fail_a & fail_b; catch fail_a -> handle_a; } nodes: fail_a, fail_b, handle_a }

#[tokio::test]
async fn c59_each_failure_reaches_its_own_handler() {
    assert_eq!(
        both!(Own, |launch| launch.run(vec![]).await.unwrap().xs),
        ["handled a by a", "handled b by b"]
    );
    let both = both!(Shared, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(
        both,
        [
            "handled fail_a after 1 attempts: a",
            "handled fail_b after 1 attempts: b"
        ]
    );
    assert_eq!(
        both!(Uncaught, |launch| failed(launch.run(vec![]).await)
            .node()
            .map(String::from)),
        Some("fail_b".into())
    );
}

twin! { CaughtPanic(Log) { a -> panics -> b; catch panics -> handle; } nodes: a, panics, b, handle }

#[tokio::test]
async fn c59_a_panic_is_caught_like_any_failure() {
    assert_eq!(
        both!(CaughtPanic, |launch| launch.run(vec![]).await.unwrap().xs),
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

twin! {
    SomeItemsFail(Log) { three -> each odd_is_bad -> b; catch odd_is_bad -> handle; handle -> c; }
    nodes: three, odd_is_bad, b, handle, c
}

#[tokio::test]
async fn c59_of_a_batch_some_items_may_fail_and_be_caught_while_the_others_go_on() {
    let xs = both!(SomeItemsFail, |launch| launch.run(vec![]).await.unwrap().xs);
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
fn c07_what_follows_a_batch_runs_beside_what_catches_its_failures() {
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

/// Work that goes on although some of it fails.
#[state]
#[derive(Debug, PartialEq)]
struct Job {
    #[key(append)]
    xs: Vec<String>,
    #[key(append)]
    failures: Vec<NodeError>,
}

#[node(Job)]
async fn items() -> Each<u32> {
    Each(vec![0, 1, 2])
}

#[node(Job)]
async fn odd_fails(#[item] number: &u32) -> petalflow::Result<JobXs> {
    if number % 2 == 1 {
        Err(format!("{number} is odd").into())
    } else {
        Ok(JobXs(vec![number.to_string()]))
    }
}

#[node(Job)]
async fn report(failures: &[NodeError]) -> JobXs {
    JobXs(
        failures
            .iter()
            .map(|failure| format!("{} {:?}: {}", failure.node, failure.index, failure.message))
            .collect(),
    )
}

twin! { GoOn(Job) { items -> each odd_fails -> report; } nodes: items, odd_fails, report }

#[tokio::test]
async fn continue_on_error_records_the_failure_and_goes_on() {
    let job = both!(GoOn, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!(job.xs, ["0", "2", "odd_fails Some(1): 1 is odd"]);
    assert_eq!(job.failures.len(), 1);
    let failed = both!(GoOn, |launch| failed(launch.run(()).await)
        .node()
        .map(String::from));
    assert_eq!(
        failed.as_deref(),
        Some("odd_fails"),
        "only where it was asked for"
    );
}

#[node(Job)]
async fn lone_failure() -> petalflow::Result<JobXs> {
    Err("alone".into())
}

#[node(Job)]
async fn route_failure() -> petalflow::Result<bool> {
    Err("which way?".into())
}

#[node(Job)]
async fn next() -> JobXs {
    JobXs(list(["next"]))
}

twin! { LoneGoesOn(Job) { lone_failure -> next; } nodes: lone_failure, next }
twin! { RouteEnds(Job) { route_failure -> match { true => next, false => END }; } nodes: route_failure, next }

#[tokio::test]
async fn continue_on_error_follows_plain_edges_but_no_route() {
    let job = both!(LoneGoesOn, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!(
        (job.xs, job.failures[0].message.as_str()),
        (list(["next"]), "alone")
    );
    let job = both!(RouteEnds, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!((job.xs, job.failures.len()), (vec![], 1));
}

#[node(Job)]
async fn side() -> JobXs {
    JobXs(list(["side"]))
}

#[node(Job)]
async fn join() -> JobXs {
    JobXs(list(["join"]))
}

twin! {
    Stranded(Job) { START -> side & route_failure; route_failure -> match { true => next, false => next }; side & next -> join; }
    nodes: side, route_failure, next, join
}

#[tokio::test]
async fn continue_on_error_does_not_strand_a_join_in_silence() {
    let (kind, xs) = both!(Stranded, |launch| {
        let error = failed(launch.continue_on_error::<JobFailures>().run(()).await);
        (error.kind().clone(), error.into_state::<Job>().unwrap().xs)
    });
    assert_eq!(
        (kind, xs),
        (
            RunErrorKind::StrandedJoin {
                waiting: list(["join"])
            },
            list(["side"])
        )
    );
}

#[test]
fn a_failure_is_plain_data() {
    let error = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(async { failed(Fail::run(vec![]).await) });
    let RunErrorKind::Node(error) = error.kind() else {
        panic!("{error}")
    };
    let stored = serde_json::to_string(error).unwrap();
    assert_eq!(serde_json::from_str::<NodeError>(&stored).unwrap(), *error);
}

#[state]
struct Fragile {
    #[key(input)]
    n: u32,
    #[key(reduce = shatter)]
    glass: u32,
}

fn shatter(_: &mut u32, _: u32) {
    panic!("shattered");
}

#[node(Fragile)]
async fn drop_it(n: &u32) -> FragileGlass {
    FragileGlass(*n)
}

#[node(Fragile)]
async fn sweep() {}

flow!(Shatter(Fragile) { drop_it -> sweep });
flow!(ShatterLast(Fragile) { drop_it });

/// A reducer belongs to no node: its panic is the caller's, wherever in a chain the node stands that wrote.
#[tokio::test]
async fn a_panic_of_a_reducer_is_not_a_failure_of_the_node() {
    let inner = tokio::spawn(async { Shatter::run(1).await.is_ok() }).await;
    let last = tokio::spawn(async { ShatterLast::run(1).await.is_ok() }).await;
    for result in [inner, last] {
        let payload = result.unwrap_err().into_panic();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"shattered"));
    }
}
