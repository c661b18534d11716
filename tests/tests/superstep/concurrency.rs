//! The limit on nodes that run at the same time.

use std::time::Duration;

use petalflow::prelude::*;
use tokio::time::{Instant, sleep};

use crate::support::{Gauge, Log, LogXs, Trace, flow_and_graph, run_both};

#[node(Log)]
async fn ten() -> Each<u32> {
    (0..10).collect()
}

#[node(Log)]
async fn busy(#[item] number: &u32, gauge: Managed<Gauge>, trace: Managed<Trace>) -> LogXs {
    let _in = gauge.enter();
    trace.record(number.to_string());
    // The first takes longest, so that completion is out of order.
    sleep(Duration::from_millis(10 + u64::from(10 - number))).await;
    LogXs(vec![number.to_string()])
}

flow_and_graph! { Ten(Log) { ten -> each busy; } nodes: ten, busy }

fn numbers() -> Vec<String> {
    (0..10).map(|number| number.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn c58_the_cap_is_reached_and_not_exceeded_and_order_is_kept() {
    let (peak, left, begun, xs) = run_both!(Ten, |launch| {
        let (gauge, trace) = (Gauge::default(), Trace::default());
        let xs = launch
            .max_concurrency(3)
            .manage(gauge.clone())
            .manage(trace.clone())
            .run(vec![])
            .await
            .unwrap()
            .xs;
        (gauge.peak(), gauge.now(), trace.all(), xs)
    });
    assert_eq!((peak, left), (3, 0));
    assert_eq!(begun, numbers(), "first come, first served");
    assert_eq!(xs, numbers());
}

#[tokio::test(start_paused = true)]
async fn c58_g001_peers_without_a_cap_all_tasks_run_concurrently() {
    // agentmesh runs 4 workers by default; weavegraph one per core.
    let (peak, elapsed) = run_both!(Ten, |launch| {
        let (gauge, begun) = (Gauge::default(), Instant::now());
        launch
            .manage(gauge.clone())
            .manage(Trace::default())
            .run(vec![])
            .await
            .unwrap();
        (gauge.peak(), begun.elapsed())
    });
    assert_eq!(peak, 10);
    assert!(elapsed < Duration::from_millis(25), "{elapsed:?}");
}

macro_rules! busy_nodes {
    ($($node:ident)*) => {$(
        #[node(Log)]
        async fn $node(gauge: Managed<Gauge>) -> LogXs {
            let _in = gauge.enter();
            sleep(Duration::from_millis(10)).await;
            LogXs(vec![stringify!($node).to_string()])
        }
    )*};
}

busy_nodes!(a b c d e);

flow_and_graph! { Five(Log) { START -> a & b & c & d & e; } nodes: a, b, c, d, e }

#[tokio::test(start_paused = true)]
async fn g032_two_at_a_time_are_never_three() {
    for (cap, waits) in [(1, 5), (2, 3), (5, 1), (100, 1)] {
        let (peak, xs, elapsed) = run_both!(Five, |launch| {
            let (gauge, begun) = (Gauge::default(), Instant::now());
            let xs = launch
                .max_concurrency(cap)
                .manage(gauge.clone())
                .run(vec![])
                .await
                .unwrap()
                .xs;
            (gauge.peak(), xs, begun.elapsed().as_millis())
        });
        assert_eq!(
            (peak, xs),
            (
                cap.min(5),
                ["a", "b", "c", "d", "e"].map(String::from).to_vec()
            )
        );
        assert!(
            elapsed >= waits * 10 && elapsed < waits * 10 + 10,
            "{waits} waits took {elapsed} ms"
        );
    }
}

#[tokio::test]
async fn concurrent_runs_are_independent() {
    let runs: Vec<_> = (0..100)
        .map(|i| {
            tokio::spawn(
                Five::new()
                    .manage(Gauge::default())
                    .run(vec![format!("run {i}")]),
            )
        })
        .collect();
    for (i, run) in runs.into_iter().enumerate() {
        assert_eq!(
            run.await.unwrap().unwrap().xs,
            [&format!("run {i}"), "a", "b", "c", "d", "e"]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_move_between_threads() {
    let runs: Vec<_> = (0..50)
        .map(|_| {
            tokio::spawn(
                Ten::new()
                    .manage(Gauge::default())
                    .manage(Trace::default())
                    .run(vec![]),
            )
        })
        .collect();
    for run in runs {
        assert_eq!(run.await.unwrap().unwrap().xs, numbers());
    }
}
