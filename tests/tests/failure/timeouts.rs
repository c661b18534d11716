//! Time limits of a node, a superstep and a run. Time is paused.

use std::time::Duration;

use petalflow::NodeError;
use petalflow::error::FailureKind;
use petalflow::middleware::from_fn;
use petalflow::node::Output;
use petalflow::prelude::*;
use petalflow::run::{RunErrorKind, TimeoutScope};
use tokio::time::{Instant, sleep};

use crate::support::{
    Log, LogXs, Trace, appending, assert_log, expect_error, flow_and_graph, kind, list, run_both,
};

appending!(a b);

const MS: Duration = Duration::from_millis(1);

fn node_failure(kind: RunErrorKind) -> NodeError {
    let RunErrorKind::Node(error) = kind else {
        panic!("{kind:?}")
    };
    error
}

#[node(Log, timeout = 50ms)]
async fn stuck(trace: Managed<Trace>) -> LogXs {
    let _guard = trace.guard("stuck");
    std::future::pending().await
}

flow_and_graph! { Stuck(Log) { a -> stuck -> b; } nodes: a, stuck, b }
flow_and_graph! { StuckInFork(Log) { a -> stuck & b; } nodes: a, stuck, b }

#[tokio::test(start_paused = true)]
async fn p083_a_node_that_takes_too_long_fails() {
    let (kind, trace_lines, elapsed) = run_both!(Stuck, |launch| {
        let (trace, begun) = (Trace::default(), Instant::now());
        (
            kind(launch.manage(trace.clone()).run(vec![]).await),
            trace.all(),
            begun.elapsed(),
        )
    });
    let error = node_failure(kind);
    assert_eq!(
        (error.node.as_str(), error.kind, error.message.as_str()),
        (
            "stuck",
            FailureKind::Timeout,
            "took longer than its timeout of 50ms"
        )
    );
    assert_eq!(trace_lines, ["dropped stuck"]);
    assert!(elapsed >= 50 * MS && elapsed < 60 * MS, "{elapsed:?}");
    let error = node_failure(run_both!(StuckInFork, |launch| crate::support::kind(
        launch.manage(Trace::default()).run(vec![]).await
    )));
    assert_eq!(error.kind, FailureKind::Timeout);
}

/// The launch replaces the retries of the node, and nothing else.
#[tokio::test(start_paused = true)]
async fn f42_retries_of_a_launch_keep_the_timeout_of_the_node() {
    let (kind, elapsed) = run_both!(Stuck, |launch| {
        let begun = Instant::now();
        let retries = vec![petalflow::policy::Retry::attempts(3).first(MS).factor(1.0)];
        let launch = launch.with_retry("stuck", retries).manage(Trace::default());
        (kind(launch.run(vec![]).await), begun.elapsed())
    });
    let error = node_failure(kind);
    assert_eq!(
        (error.kind, error.attempt),
        (FailureKind::Timeout, 3),
        "{error:?}"
    );
    assert!(elapsed >= 152 * MS && elapsed < 160 * MS, "{elapsed:?}");
}

#[node(Log, timeout = 50ms, retry = 3)]
async fn slow_at_first(cx: Context) -> LogXs {
    if cx.attempt() < 3 {
        sleep(Duration::from_secs(1)).await;
    } else {
        sleep(Duration::from_millis(49)).await;
    }
    LogXs(vec![format!("attempt {}", cx.attempt())])
}

flow_and_graph! { SlowAtFirst(Log) { slow_at_first } nodes: slow_at_first }

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_time() {
    assert_log!(SlowAtFirst, ["attempt 3"]);
}

/// Puts something among the writes, and then waits: only middleware can do so before the node has returned.
#[tokio::test(start_paused = true)]
async fn c54_p083_writes_before_the_timeout_are_dropped() {
    let xs = run_both!(Once, |launch| {
        let early = from_fn(|call: petalflow::middleware::NodeCall<'_, Log>, next| {
            Box::pin(async move {
                LogXs(list(["early"])).apply(call.effects)?;
                if call.attempt() == 1 {
                    sleep(Duration::from_secs(9)).await;
                }
                next.run(call).await
            })
        });
        launch.middleware(early).run(vec![]).await.unwrap().xs
    });
    assert_eq!(xs, ["early", "once"], "those of the second attempt alone");
}

#[node(Log, timeout = 1s, retry = 2)]
async fn once() -> LogXs {
    LogXs(list(["once"]))
}

flow_and_graph! { Once(Log) { once } nodes: once }

/// Says ten times that it lives, 40 ms apart.
async fn beat(cx: &Context, emit: bool) -> petalflow::Result<()> {
    for i in 0..10 {
        sleep(Duration::from_millis(40)).await;
        if emit {
            cx.emit(i);
        } else {
            cx.heartbeat();
        }
    }
    Ok(())
}

#[node(Log, idle = 50ms)]
async fn emits(cx: Context) -> petalflow::Result<LogXs> {
    beat(&cx, true).await?;
    Ok(LogXs(list(["done"])))
}

#[node(Log, idle = 50ms)]
async fn beats(cx: Context) -> petalflow::Result<LogXs> {
    beat(&cx, false).await?;
    Ok(LogXs(list(["done"])))
}

#[node(Log, idle = 30ms)]
async fn too_quiet(cx: Context) -> petalflow::Result<LogXs> {
    beat(&cx, false).await?;
    Ok(LogXs(list(["done"])))
}

#[node(Log, idle = 50ms, timeout = 200ms)]
async fn lively_but_late(cx: Context) -> petalflow::Result<LogXs> {
    beat(&cx, false).await?;
    Ok(LogXs(list(["done"])))
}

flow_and_graph! { Emits(Log) { emits } nodes: emits }
flow_and_graph! { Beats(Log) { beats } nodes: beats }
flow_and_graph! { TooQuiet(Log) { too_quiet } nodes: too_quiet }
flow_and_graph! { Late(Log) { lively_but_late } nodes: lively_but_late }

#[tokio::test(start_paused = true)]
async fn c55_heartbeats_refresh_the_idle_timeout() {
    assert_eq!(
        run_both!(Emits, |launch| launch.run(vec![]).await.unwrap().xs),
        ["done"],
        "also if nobody listens"
    );
    assert_log!(Beats, ["done"]);
}

#[tokio::test(start_paused = true)]
async fn c55_without_a_heartbeat_the_node_fails() {
    let (kind, elapsed) = run_both!(TooQuiet, |launch| {
        let begun = Instant::now();
        (kind(launch.run(vec![]).await), begun.elapsed())
    });
    let error = node_failure(kind);
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            FailureKind::Idle,
            "had no activity for 30ms, its idle timeout"
        )
    );
    assert!(elapsed >= 30 * MS && elapsed < 40 * MS, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn c55_heartbeats_do_not_refresh_the_total_timeout() {
    let (kind, elapsed) = run_both!(Late, |launch| {
        let begun = Instant::now();
        (kind(launch.run(vec![]).await), begun.elapsed())
    });
    assert_eq!(node_failure(kind).kind, FailureKind::Timeout);
    assert!(elapsed >= 200 * MS && elapsed < 210 * MS, "{elapsed:?}");
}

#[node(Log)]
async fn sixty(cx: Context) -> LogXs {
    sleep(Duration::from_millis(60)).await;
    LogXs(vec![format!("superstep {}", cx.superstep())])
}

flow_and_graph! {
    Three(Log) { node two = sixty; node three = sixty; sixty -> two -> three; }
    nodes: two = |b| b.node_as("two", sixty {}), three = |b| b.node_as("three", sixty {}), sixty
}
flow_and_graph! {
    Forks(Log) { node two = sixty; node three = sixty; sixty -> two & three; }
    nodes: two = |b| b.node_as("two", sixty {}), three = |b| b.node_as("three", sixty {}), sixty
}

#[tokio::test(start_paused = true)]
async fn a_superstep_has_its_own_time_and_nodes_share_it() {
    let xs = run_both!(Three, |launch| launch
        .superstep_timeout(100 * MS)
        .run(vec![])
        .await
        .unwrap()
        .xs);
    assert_eq!(xs.len(), 3, "180 ms in all, but no superstep took 100");
    let xs = run_both!(Forks, |launch| launch
        .superstep_timeout(100 * MS)
        .run(vec![])
        .await
        .unwrap()
        .xs);
    assert_eq!(xs.len(), 3);
    let (kind, xs, superstep) = run_both!(Forks, |launch| {
        let error = expect_error(launch.superstep_timeout(50 * MS).run(vec![]).await);
        (
            error.kind().clone(),
            error.state::<Log>().unwrap().xs.clone(),
            error.superstep(),
        )
    });
    assert_eq!(
        (kind, superstep),
        (
            RunErrorKind::Timeout {
                scope: TimeoutScope::Superstep
            },
            1
        )
    );
    assert_eq!(xs, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn g035_a_run_has_a_time_limit() {
    for (limit, done) in [(50 * MS, 0), (100 * MS, 1), (130 * MS, 2)] {
        let (kind, xs, elapsed) = run_both!(Three, |launch| {
            let begun = Instant::now();
            let error = expect_error(launch.timeout(limit).run(vec![]).await);
            (
                error.kind().clone(),
                error.state::<Log>().unwrap().xs.len(),
                begun.elapsed(),
            )
        });
        assert_eq!(
            (kind, xs),
            (
                RunErrorKind::Timeout {
                    scope: TimeoutScope::Run
                },
                done
            )
        );
        assert!(elapsed >= limit && elapsed < limit + 10 * MS, "{elapsed:?}");
    }
    assert_eq!(
        run_both!(Three, |launch| launch
            .timeout(190 * MS)
            .run(vec![])
            .await
            .unwrap()
            .xs
            .len()),
        3
    );
}

#[node(Log)]
async fn busy(cx: Context) -> (LogXs, bool) {
    // Time passes, but the node never waits.
    if cx.superstep() == 10 {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    (LogXs(vec![]), true)
}

flow_and_graph! { Busy(Log) { busy -> match { true => busy, false => END }; } nodes: busy }

#[tokio::test(start_paused = true)]
async fn a_run_whose_nodes_never_wait_observes_its_deadline() {
    let (kind, superstep) = run_both!(Busy, |launch| {
        let error = expect_error(launch.limit(10_000).timeout(500 * MS).run(vec![]).await);
        (error.kind().clone(), error.superstep())
    });
    assert_eq!(
        kind,
        RunErrorKind::Timeout {
            scope: TimeoutScope::Run
        }
    );
    assert!(superstep <= 128, "{superstep}");
}

#[node(Log)]
async fn handle(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!("{:?} of {}", failure.kind, failure.node)])
}

flow_and_graph! { CaughtTimeout(Log) { stuck -> a; catch stuck -> handle; } nodes: stuck, a, handle }

#[tokio::test(start_paused = true)]
async fn a_timeout_of_a_node_can_be_caught() {
    assert_eq!(
        run_both!(CaughtTimeout, |launch| launch
            .manage(Trace::default())
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["Timeout of stuck"]
    );
}

flow! { Patient(Log) { sixty; with sixty { timeout: 50ms } } }
flow! { Impatient(Log) { too_quiet; with too_quiet { idle: 45ms, timeout: 2s } } }

#[tokio::test(start_paused = true)]
async fn a_flow_sets_the_timeouts_of_its_nodes() {
    assert_eq!(
        node_failure(kind(Patient::run(vec![]).await)).kind,
        FailureKind::Timeout
    );
    assert_eq!(
        Impatient::run(vec![]).await.unwrap().xs,
        ["done"],
        "the flow's idle time wins over the annotation's"
    );
}
