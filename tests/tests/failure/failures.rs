//! A node that fails: what stops, and what stays.

use std::error::Error as _;
use std::time::Duration;

use petalflow::NodeError;
use petalflow::error::FailureKind;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow_test_support::assert_starts_with;
use tokio::time::sleep;

use crate::support::{
    Log, LogXs, Trace, appending, expect_error, flow_and_graph, kind, list, run_both,
};

appending!(a b);

#[derive(Debug, thiserror::Error)]
#[error("the well is dry")]
pub(crate) struct Dry;

#[derive(Debug, thiserror::Error)]
#[error("no water")]
pub(crate) struct NoWater(#[source] Dry);

#[node(Log)]
pub(crate) async fn bad() -> Result<LogXs, NoWater> {
    Err(NoWater(Dry))
}

flow_and_graph! { Fail(Log) { a -> bad -> b; } nodes: a, bad, b }

/// What `main` prints of an error that it returns.
#[tokio::test]
async fn an_error_returned_from_main_is_printed_readably() {
    let (words, parts) = run_both!(Fail, |launch| {
        let error = expect_error(launch.run(vec![]).await);
        (format!("{error:?}"), format!("{error:#?}"))
    });
    assert_eq!(
        words,
        "node `bad` failed in superstep 2: no water: the well is dry"
    );
    assert_starts_with(&parts, "RunError {\n    kind: Node(");
}

#[tokio::test]
async fn g033_p059_a_node_error_stops_the_run_and_keeps_its_source() {
    let (kind, text, superstep, node, xs) = run_both!(Fail, |launch| {
        let error = expect_error(launch.run(vec![]).await);
        let source = error
            .get_ref()
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

flow_and_graph! { AddTotal(Total) { one } nodes: one }

#[tokio::test]
async fn c48_a_failed_superstep_applies_nothing() {
    let run = |x, total| async move {
        run_both!(AddTotal, |launch| {
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
    trace.record("slow is done");
    LogXs(list(["slow"]))
}

#[node(Log)]
async fn fast_bad() -> petalflow::Result<LogXs> {
    sleep(Duration::from_millis(10)).await;
    Err("too fast".into())
}

flow_and_graph! { Siblings(Log) { a -> slow & fast_bad & quick; slow & fast_bad & quick -> b; } nodes: a, slow, fast_bad, quick, b }

#[tokio::test(start_paused = true)]
async fn c56_the_first_failure_cancels_running_siblings_and_retains_finished_results() {
    let (xs, pending, trace_lines, elapsed) = run_both!(Siblings, |launch| {
        let (trace, begun) = (Trace::default(), tokio::time::Instant::now());
        let error = expect_error(launch.manage(trace.clone()).run(vec![]).await);
        assert_eq!(error.node(), Some("fast_bad"));
        let pending: Vec<_> = error
            .pending::<Log>()
            .map(|(node, update)| (node.to_string(), update.of::<LogXs>().only().cloned()))
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
    assert_eq!(trace_lines, ["dropped slow"]);
    assert!(elapsed < Duration::from_millis(100), "{elapsed:?}");
}

#[node(Log)]
pub(crate) async fn panics(xs: &[String]) -> LogXs {
    panic!("no {}", xs.len())
}

flow_and_graph! { Panic(Log) { a -> panics; } nodes: a, panics }
flow_and_graph! { PanicInFork(Log) { a -> b & panics & slow; } nodes: a, b, panics, slow }

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
    check(run_both!(Panic, |launch| kind(launch.run(vec![]).await)));
    check(run_both!(PanicInFork, |launch| kind(
        launch.manage(Trace::default()).run(vec![]).await
    )));
}

#[test]
fn a_failure_is_plain_data() {
    let error = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(async { expect_error(Fail::run(vec![]).await) });
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

/// A reducer belongs to no node: its panic ends the run, at each position of the writing node in a chain.
#[tokio::test]
async fn a_panic_of_a_reducer_is_not_a_failure_of_the_node() {
    let inner = kind(Shatter::run(1).await);
    let last = kind(ShatterLast::run(1).await);
    for kind in [inner, last] {
        assert!(
            matches!(&kind, RunErrorKind::Panic { message } if message == "shattered"),
            "{kind:?}"
        );
    }
}
