//! Trying again. Time is paused: waits are counted, not waited for.

use std::time::Duration;

use petalflow::error::FailureKind;
use petalflow::event::EventKind;
use petalflow::node::{Effects, Output};
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::state::KeySet;
use tokio::time::Instant;

use crate::support::{
    Log, LogXs, Trace, appending, expect_error, flow_and_graph, kind, list, run_both,
};

appending!(b);

const MS: Duration = Duration::from_millis(1);

fn millis(retry: Retry) -> Vec<u128> {
    retry.waits().map(|wait| wait.as_millis()).collect()
}

#[test]
fn c50_waits_grow_and_are_capped() {
    assert_eq!(millis(Retry::attempts(3).first(10 * MS)), [10, 20]);
    let capped = Retry::attempts(6)
        .first(Duration::from_secs(1))
        .factor(3.0)
        .max(Duration::from_secs(10));
    assert_eq!(millis(capped), [1_000, 3_000, 9_000, 10_000, 10_000]);
}

#[test]
fn c51_the_backoff_table() {
    let retry = Retry::attempts(7)
        .first(Duration::from_secs(1))
        .max(Duration::from_secs(10));
    assert_eq!(millis(retry), [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    assert_eq!(
        millis(Retry::attempts(1)),
        [0; 0],
        "one attempt in all is not a retry"
    );
}

#[test]
fn g001_g049_the_defaults() {
    assert_eq!(
        millis(Retry::attempts(8)),
        [100, 200, 400, 800, 1_600, 3_200, 5_000]
    );
}

#[test]
fn g050_a_constant_wait_has_factor_one() {
    // agentmesh's "linear" backoff is documented as 1s, 2s, 3s, but is constant. Here `factor` is explicit.
    assert_eq!(
        millis(Retry::attempts(4).first(Duration::from_secs(1)).factor(1.0)),
        [1_000, 1_000, 1_000]
    );
}

#[test]
fn c50_jitter_adds_at_most_the_wait_itself() {
    let retry = Retry::attempts(4).first(10 * MS).jitter();
    for _ in 0..50 {
        for (wait, base) in retry.waits().zip([10, 20, 40]) {
            assert!(
                wait >= base * MS && wait <= 2 * base * MS,
                "{wait:?} for {base} ms"
            );
        }
    }
}

#[node(Log, retry = Retry::attempts(3).first(Duration::from_millis(10)))]
async fn third_time(cx: Context, trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.record(format!("attempt {}", cx.attempt()));
    if cx.attempt() < 3 {
        Err(format!("attempt {} failed", cx.attempt()).into())
    } else {
        Ok(LogXs(list(["ok"])))
    }
}

flow_and_graph! { Third(Log) { third_time -> b; } nodes: third_time, b }

#[tokio::test(start_paused = true)]
async fn c50_attempts_and_waits_until_it_works() {
    let (xs, trace_lines, elapsed) = run_both!(Third, |launch| {
        let (trace, begun) = (Trace::default(), Instant::now());
        let xs = launch.manage(trace.clone()).run(vec![]).await.unwrap().xs;
        (xs, trace.all(), begun.elapsed())
    });
    assert_eq!(xs, ["ok", "b"]);
    assert_eq!(trace_lines, ["attempt 1", "attempt 2", "attempt 3"]);
    assert!(elapsed >= 30 * MS && elapsed < 40 * MS, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn c50_events_show_each_attempt() {
    let seen = run_both!(Third, |launch| {
        let mut events = launch.manage(Trace::default()).run(vec![]).events();
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            let attempt = event.task.as_ref().map_or(0, |task| task.attempt);
            match &event.kind {
                EventKind::NodeStarted => seen.push(format!("start {attempt}")),
                EventKind::Retry { error, wait } => seen.push(format!(
                    "retry after {wait:?}: {} of {}",
                    error.message, error.attempt
                )),
                EventKind::NodeFinished { .. } => seen.push(format!("finish {attempt}")),
                _ => {}
            }
        }
        seen
    });
    let expected = [
        "start 1",
        "retry after 10ms: attempt 1 failed of 1",
        "start 2",
        "retry after 20ms: attempt 2 failed of 2",
        "start 3",
        "finish 3",
        "start 1",
        "finish 1",
    ];
    assert_eq!(seen, expected);
}

#[node(Log, retry = Retry::attempts(2).first(Duration::from_millis(10)))]
async fn always() -> petalflow::Result<LogXs> {
    Err("Always fails".into())
}

flow_and_graph! { Exhausted(Log) { always -> b; } nodes: always, b }

#[tokio::test(start_paused = true)]
async fn c53_g049_after_all_attempts_the_last_error_fails_the_run() {
    let (kind, elapsed) = run_both!(Exhausted, |launch| {
        let begun = Instant::now();
        (kind(launch.run(vec![]).await), begun.elapsed())
    });
    let RunErrorKind::Node(error) = kind else {
        panic!("{kind:?}")
    };
    assert_eq!((error.message.as_str(), error.attempt), ("Always fails", 2));
    assert!(
        elapsed >= 10 * MS && elapsed < 20 * MS,
        "one wait: {elapsed:?}"
    );
}

#[derive(Debug, thiserror::Error)]
#[error("value")]
struct ValueError;

#[derive(Debug, thiserror::Error)]
#[error("key")]
struct KeyError;

fn is_value(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<ValueError>()
}

#[node(Log, retry = Retry::attempts(3).only(is_value))]
async fn fails_with_key(trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.record("called");
    Err(KeyError.into())
}

#[node(Log, retry = Retry::attempts(3).only(is_value))]
async fn fails_with_value(cx: Context, trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.record("called");
    if cx.attempt() < 3 {
        Err(ValueError.into())
    } else {
        Err(KeyError.into())
    }
}

flow_and_graph! { WithKey(Log) { fails_with_key } nodes: fails_with_key }
flow_and_graph! { WithValue(Log) { fails_with_value } nodes: fails_with_value }

#[tokio::test(start_paused = true)]
async fn c52_g049_only_matching_errors_are_retried() {
    let calls = run_both!(WithKey, |launch| {
        let trace = Trace::default();
        assert!(
            expect_error(launch.manage(trace.clone()).run(vec![]).await)
                .to_string()
                .ends_with("key")
        );
        trace.count("called")
    });
    assert_eq!(calls, 1);
    let calls = run_both!(WithValue, |launch| {
        let trace = Trace::default();
        expect_error(launch.manage(trace.clone()).run(vec![]).await);
        trace.count("called")
    });
    assert_eq!(calls, 3);
}

/// Writes, and then fails the given number of times: the writes of failed attempts must not count.
#[state]
#[derive(Debug, PartialEq)]
struct Total {
    #[key(sum)]
    n: u32,
    #[key(append)]
    xs: Vec<u32>,
}

struct WriteThenFail(bool);

impl Output<Total> for WriteThenFail {
    const MAY_WRITE: KeySet = KeySet::of(0).union(KeySet::of(1));
    const MUST_WRITE: KeySet = Self::MAY_WRITE;
    type Routing = ();

    fn apply(self, effects: &mut Effects<Total>) -> petalflow::Result<()> {
        (TotalN(3), TotalXs(vec![3])).apply(effects)?;
        if self.0 {
            Err("after the writes".into())
        } else {
            Ok(())
        }
    }
}

#[node(Total, retry = Retry::attempts(3).first(MS))]
async fn aggregate(cx: Context) -> WriteThenFail {
    WriteThenFail(cx.attempt() < 3)
}

#[node(Total)]
async fn beside() -> TotalN {
    TotalN(10)
}

flow_and_graph! { Once(Total) { aggregate } nodes: aggregate }
flow_and_graph! { OnceInFork(Total) { START -> aggregate & beside; } nodes: aggregate, beside }

#[tokio::test(start_paused = true)]
async fn c22_c54_a_failed_attempt_leaves_no_writes() {
    assert_eq!(
        run_both!(Once, |launch| launch.run(()).await.unwrap()),
        Total { n: 3, xs: vec![3] }
    );
    assert_eq!(
        run_both!(OnceInFork, |launch| launch.run(()).await.unwrap()),
        Total { n: 13, xs: vec![3] }
    );
}

#[node(Log, retry = 3)]
async fn panics(trace: Managed<Trace>) {
    trace.record("called");
    panic!("a defect");
}

flow_and_graph! { Panics(Log) { panics } nodes: panics }

#[tokio::test(start_paused = true)]
async fn a_panic_is_not_retried() {
    let (kind, calls) = run_both!(Panics, |launch| {
        let trace = Trace::default();
        (
            kind(launch.manage(trace.clone()).run(vec![]).await),
            trace.count("called"),
        )
    });
    assert!(
        matches!(kind, RunErrorKind::Node(error) if error.kind == FailureKind::Panic && error.attempt == 1)
    );
    assert_eq!(calls, 1);
}

#[tokio::test(start_paused = true)]
async fn a_recovered_panic_is_retried() {
    let calls = run_both!(Panics, |launch| {
        let trace = Trace::default();
        let recover = petalflow::middleware::recover(|_, _| {});
        expect_error(
            launch
                .manage(trace.clone())
                .middleware(recover)
                .run(vec![])
                .await,
        );
        trace.count("called")
    });
    assert_eq!(calls, 3);
}

#[node(Log, retry = Retry::attempts(3).first(Duration::from_secs(3600)).max(Duration::from_secs(3600)))]
async fn patient(trace: Managed<Trace>) -> petalflow::Result<()> {
    trace.record("called");
    Err("not yet".into())
}

flow_and_graph! { Patient(Log) { patient } nodes: patient }

#[tokio::test(start_paused = true)]
async fn g049_a_cancelled_run_does_not_wait_for_the_next_attempt() {
    let (kind, calls, elapsed) = run_both!(Patient, |launch| {
        let (trace, token, begun) = (Trace::default(), CancelToken::new(), Instant::now());
        let run = tokio::spawn(launch.manage(trace.clone()).cancel_with(&token).run(vec![]));
        tokio::time::sleep(10 * MS).await;
        token.cancel();
        (
            kind(run.await.unwrap()),
            trace.count("called"),
            begun.elapsed(),
        )
    });
    assert_eq!((kind, calls), (RunErrorKind::Cancelled, 1));
    assert!(elapsed < 100 * MS, "{elapsed:?}");
}

#[node(Log, retry = 2)]
async fn annotated(trace: Managed<Trace>) -> petalflow::Result<()> {
    trace.record("called");
    Err("no".into())
}

#[tokio::test(start_paused = true)]
async fn the_flow_overrides_the_annotation() {
    let trace = Trace::default();
    expect_error(Four::new().manage(trace.clone()).run(vec![]).await);
    assert_eq!(trace.count("called"), 4);
    let (trace, policy) = (
        Trace::default(),
        petalflow::policy::Policy {
            retry: const { &[Retry::attempts(4)] },
            ..petalflow::policy::Policy::NONE
        },
    );
    let graph = Graph::<Log>::builder("four")
        .node(annotated {})
        .edge(START, "annotated")
        .with("annotated", policy)
        .build()
        .unwrap();
    expect_error(graph.launch().manage(trace.clone()).run(vec![]).await);
    assert_eq!(trace.count("called"), 4);
}

flow! { Four(Log) { annotated; with annotated { retry: 4 } } }
