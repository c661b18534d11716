//! Stopping a run: at once, at the next barrier, or by dropping it. Nothing runs on.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use tokio::time::sleep;

use crate::support::{
    Log, LogXs, Trace, appending, expect_error, expect_stopped, flow_and_graph, kind, list,
    run_both, with_token,
};

appending!(a b c);

const MS: Duration = Duration::from_millis(1);

#[node(Log)]
async fn wait(trace: Managed<Trace>) -> LogXs {
    let _guard = trace.guard("wait");
    trace.record("waiting");
    sleep(Duration::from_secs(1)).await;
    trace.record("ran on");
    LogXs(list(["wait"]))
}

#[node(Log)]
async fn wait_too(trace: Managed<Trace>) -> LogXs {
    let _guard = trace.guard("wait_too");
    sleep(Duration::from_secs(2)).await;
    trace.record("ran on");
    LogXs(list(["wait_too"]))
}

#[node(Log, spawn)]
async fn wait_spawned(trace: Managed<Trace>) -> LogXs {
    let _guard = trace.guard("wait_spawned");
    sleep(Duration::from_secs(3)).await;
    trace.record("ran on");
    LogXs(list(["wait_spawned"]))
}

flow_and_graph! { Single(Log) { a -> wait -> b; } nodes: a, wait, b }
flow_and_graph! { Fork(Log) { a -> wait & wait_too & c & wait_spawned; wait & wait_too & c & wait_spawned -> b; } nodes: a, wait, wait_too, wait_spawned, c, b }

#[tokio::test(start_paused = true)]
async fn g035_peers_no_node_runs_after_cancel() {
    let (kind, xs, trace_lines) = run_both!(Single, |launch| {
        let (trace, token) = (Trace::default(), CancelToken::new());
        let run = tokio::spawn(launch.manage(trace.clone()).cancel_with(&token).run(vec![]));
        sleep(10 * MS).await;
        token.cancel();
        let error = expect_error(run.await.unwrap());
        sleep(Duration::from_secs(5)).await;
        (
            error.kind().clone(),
            error.state::<Log>().unwrap().xs.clone(),
            trace.all(),
        )
    });
    assert_eq!((kind, xs), (RunErrorKind::Cancelled, list(["a"])));
    assert_eq!(trace_lines, ["waiting", "dropped wait"]);

    let (kind, pending, mut trace_lines) = run_both!(Fork, |launch| {
        let (trace, token) = (Trace::default(), CancelToken::new());
        let run = tokio::spawn(launch.manage(trace.clone()).cancel_with(&token).run(vec![]));
        sleep(10 * MS).await;
        token.cancel();
        let error = expect_error(run.await.unwrap());
        sleep(Duration::from_secs(5)).await;
        (
            error.kind().clone(),
            error
                .pending::<Log>()
                .map(|(node, _)| node.to_string())
                .collect::<Vec<_>>(),
            trace.all(),
        )
    });
    trace_lines.sort();
    assert_eq!((kind, pending), (RunErrorKind::Cancelled, list(["c"])));
    assert_eq!(
        trace_lines,
        [
            "dropped wait",
            "dropped wait_spawned",
            "dropped wait_too",
            "waiting"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn peers_no_node_runs_after_the_run_is_dropped() {
    let mut trace_lines = run_both!(Fork, |launch| {
        let trace = Trace::default();
        let run = launch.manage(trace.clone()).run(vec![]);
        assert!(tokio::time::timeout(10 * MS, run).await.is_err());
        sleep(Duration::from_secs(5)).await;
        trace.all()
    });
    trace_lines.sort();
    assert_eq!(
        trace_lines,
        [
            "dropped wait",
            "dropped wait_spawned",
            "dropped wait_too",
            "waiting"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_the_events_cancels_the_run() {
    let mut trace_lines = run_both!(Fork, |launch| {
        let trace = Trace::default();
        let mut events = launch.manage(trace.clone()).run(vec![]).events();
        while events.next().await.unwrap().node() != Some("c") {}
        drop(events);
        sleep(Duration::from_secs(5)).await;
        trace.all()
    });
    trace_lines.sort();
    assert_eq!(
        trace_lines,
        ["dropped wait", "dropped wait_too", "waiting"],
        "the spawned one had not even begun"
    );
    let trace_lines = run_both!(Single, |launch| {
        let trace = Trace::default();
        let mut events = launch.manage(trace.clone()).run(vec![]).events();
        assert!(
            tokio::time::timeout(10 * MS, async { while events.next().await.is_some() {} })
                .await
                .is_err()
        );
        drop(events);
        sleep(Duration::from_secs(5)).await;
        trace.all()
    });
    assert_eq!(trace_lines, ["waiting", "dropped wait"]);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_cancelled_before_the_run_starts_no_node() {
    for cancelled in [true, false] {
        let trace_lines = run_both!(Single, |launch| {
            let (trace, token) = (Trace::default(), CancelToken::new());
            if cancelled {
                token.cancel();
            }
            let result = launch
                .manage(trace.clone())
                .cancel_with(&token)
                .run(vec![])
                .await;
            assert_eq!(result.is_err(), cancelled);
            trace.all()
        });
        assert_eq!(trace_lines.is_empty(), cancelled);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_polled_does_nothing() {
    let trace = Trace::default();
    drop(Single::new().manage(trace.clone()).run(vec![]));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(trace.all(), [""; 0]);
}

#[node(Log)]
async fn cancel_yourself(token: Managed<CancelToken>, trace: Managed<Trace>, cx: Context) -> LogXs {
    trace.record(format!("cancelled: {}", cx.is_cancelled()));
    token.cancel();
    trace.record(format!("cancelled: {}", cx.is_cancelled()));
    LogXs(list(["cancelled"]))
}

flow_and_graph! { FromWithin(Log) { a -> cancel_yourself -> b; } nodes: a, cancel_yourself, b }
flow_and_graph! { FromWithinFork(Log) { a -> c & cancel_yourself -> b; } nodes: a, c, cancel_yourself, b }

#[tokio::test]
async fn p062_no_node_begins_after_the_token_is_cancelled() {
    // An assertion in the node would be a failure of the node, which the cancellation hides.
    macro_rules! cancels {
        ($flow:ident) => {
            let (kind, committed, trace) = run_both!($flow, |launch| {
                let trace = Trace::default();
                let (kind, committed) =
                    expect_stopped(with_token(launch.manage(trace.clone())).await);
                (kind, committed, trace.all())
            });
            assert_eq!(kind, RunErrorKind::Cancelled);
            assert!(!committed.contains(&"b".to_string()), "{committed:?}");
            assert_eq!(trace, ["cancelled: false", "cancelled: true"]);
        };
    }
    cancels!(FromWithin);
    cancels!(FromWithinFork);
}

#[node(Log)]
async fn drain_yourself(token: Managed<CancelToken>) -> LogXs {
    token.drain();
    LogXs(list(["drained"]))
}

flow_and_graph! { Drain(Log) { a -> drain_yourself -> b; } nodes: a, drain_yourself, b }
flow_and_graph! { DrainFork(Log) { a -> c & drain_yourself; c & drain_yourself -> b; } nodes: a, c, drain_yourself, b }
flow_and_graph! { DrainLast(Log) { a -> drain_yourself; } nodes: a, drain_yourself }

#[tokio::test]
async fn c61_a_drain_finishes_the_superstep_and_stops() {
    let run = run_both!(Drain, |launch| expect_stopped(with_token(launch).await));
    assert_eq!(
        run,
        (
            RunErrorKind::Drained { next: list(["b"]) },
            list(["a", "drained"])
        )
    );
    let run = run_both!(DrainFork, |launch| expect_stopped(with_token(launch).await));
    assert_eq!(
        run,
        (
            RunErrorKind::Drained { next: list(["b"]) },
            list(["a", "c", "drained"])
        )
    );
}

#[tokio::test]
async fn c61_a_drain_in_the_last_superstep_ends_the_run_as_usual() {
    let xs = run_both!(DrainLast, |launch| with_token(launch).await.unwrap().xs);
    assert_eq!(xs, ["a", "drained"]);
}

#[tokio::test]
async fn a_cancelled_token_stays_cancelled() {
    let token = CancelToken::new();
    token.cancel();
    token.drain();
    assert!(token.is_cancelled() && token.is_draining());
    assert_eq!(
        kind(
            Drain::new()
                .manage(token.clone())
                .cancel_with(&token)
                .run(vec![])
                .await
        ),
        RunErrorKind::Cancelled
    );
}

#[tokio::test(start_paused = true)]
async fn one_token_stops_many_runs() {
    let (trace, token) = (Trace::default(), CancelToken::new());
    let launch = Single::new().manage(trace.clone()).cancel_with(&token);
    let runs: Vec<_> = (0..10)
        .map(|_| tokio::spawn(launch.clone().run(vec![])))
        .collect();
    sleep(10 * MS).await;
    token.cancel();
    for run in runs {
        assert_eq!(kind(run.await.unwrap()), RunErrorKind::Cancelled);
    }
    assert_eq!(trace.count("dropped wait"), 10);
    assert_eq!(trace.count("ran on"), 0);
}

/// Releases a blocking node; the test has the other end.
struct Gate(Mutex<mpsc::Receiver<()>>);

#[node(Log, blocking)]
fn block(gate: Managed<Gate>, trace: Managed<Trace>) -> LogXs {
    trace.record("blocking");
    gate.0.lock().unwrap().recv().unwrap();
    trace.record("unblocked");
    LogXs(list(["block"]))
}

flow_and_graph! { Block(Log) { a -> block -> b; } nodes: a, block, b }

#[tokio::test]
async fn the_result_of_a_blocking_node_is_discarded_when_the_run_is_cancelled() {
    let run = run_both!(Block, |launch| {
        let (trace, token, (go, gate)) = (Trace::default(), CancelToken::new(), mpsc::channel());
        let launch = launch
            .manage(trace.clone())
            .manage_with(Arc::new(Gate(Mutex::new(gate))))
            .cancel_with(&token);
        let run = tokio::spawn(launch.run(vec![]));
        while trace.count("blocking") == 0 {
            tokio::task::yield_now().await;
        }
        token.cancel();
        let error = expect_error(run.await.unwrap());
        go.send(()).unwrap();
        while trace.count("unblocked") == 0 {
            tokio::task::yield_now().await;
        }
        (
            error.kind().clone(),
            error.state::<Log>().unwrap().xs.clone(),
        )
    });
    assert_eq!(run, (RunErrorKind::Cancelled, list(["a"])));
}
