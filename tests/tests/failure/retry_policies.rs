//! Several retry policies of one node: the kind of the error picks one. Time is paused.

use std::time::Duration;

use petalflow::error::FailureKind;
use petalflow::policy::{Policy, Retry};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use tokio::time::Instant;

use crate::support::{
    Log, LogXs, Trace, codes, expect_error, flow_and_graph, kind, list, run_both,
};

const MS: Duration = Duration::from_millis(1);
const TEN: Duration = Duration::from_millis(10);

// The errors of the case, which are Python's.
#[derive(Debug, thiserror::Error)]
#[error("value error")]
struct ValueError;

#[derive(Debug, thiserror::Error)]
#[error("key error")]
struct KeyError;

/// An error with less detail than its source.
#[derive(Debug, thiserror::Error)]
#[error("the look-up failed")]
struct LookUp(#[from] KeyError);

/// How each attempt fails, until the list is at its end.
#[derive(Clone, Copy, Debug)]
enum Fails {
    Value,
    Key,
    WrappedKey,
    Other,
}

struct Plan(&'static [Fails]);

const RETRIES: [Retry; 2] = [
    Retry::attempts(2).first(MS).on::<ValueError>(),
    Retry::attempts(3).first(TEN).on::<KeyError>(),
];

fn fail(cx: &Context, plan: &Plan, trace: &Trace) -> petalflow::Result<LogXs> {
    trace.record("called");
    match plan.0.get(cx.attempt() as usize - 1) {
        Some(Fails::Value) => Err(ValueError.into()),
        Some(Fails::Key) => Err(KeyError.into()),
        Some(Fails::WrappedKey) => Err(LookUp(KeyError).into()),
        Some(Fails::Other) => Err("something else".into()),
        None => Ok(LogXs(list(["ok"]))),
    }
}

#[node(Log, retry = [Retry::attempts(2).first(MS).on::<ValueError>(), Retry::attempts(3).first(TEN).on::<KeyError>()])]
async fn picky(
    cx: Context,
    plan: Managed<Plan>,
    trace: Managed<Trace>,
) -> petalflow::Result<LogXs> {
    fail(&cx, &plan, &trace)
}

#[node(Log)]
async fn plain(
    cx: Context,
    plan: Managed<Plan>,
    trace: Managed<Trace>,
) -> petalflow::Result<LogXs> {
    fail(&cx, &plan, &trace)
}

flow_and_graph! { Annotated(Log) { picky } nodes: picky }
flow_and_graph! {
    Said(Log) {
        plain;
        with plain { retry: [Retry::attempts(2).first(MS).on::<ValueError>(), Retry::attempts(3).first(TEN).on::<KeyError>()] };
    }
    nodes: plain = |b| b.node(plain {}).with("plain", Policy { retry: &RETRIES, ..Policy::NONE })
}
flow_and_graph! {
    // The list of the builder is made at run time; in `flow!` a number means attempts after any error.
    Last(Log) {
        plain;
        with plain { retry: [Retry::attempts(2).first(MS).on::<ValueError>(), 3] };
    }
    nodes: plain = |b| b.node(plain {}).retry("plain", [2, 3].map(|attempts| if attempts == 2 { RETRIES[0] } else { Retry::attempts(attempts) }))
}

/// The end of a run, how often the node was called, and the milliseconds waited.
macro_rules! tried {
    ($flow:ident, $plan:expr) => {
        run_both!($flow, |launch| {
            let (trace, begun) = (Trace::default(), Instant::now());
            let run = launch.manage(trace.clone()).manage(Plan($plan));
            let end = run.run(vec![]).await.map(|log| log.xs).map_err(|error| {
                match kind::<Log>(Err(error)) {
                    RunErrorKind::Node(error) => error.message,
                    other => format!("{other:?}"),
                }
            });
            (end, trace.count("called"), begun.elapsed().as_millis())
        })
    };
}

#[tokio::test(start_paused = true)]
async fn c52_the_policy_is_picked_by_the_kind_of_the_error() {
    use Fails::{Key, Other, Value, WrappedKey};
    let ok = || Ok(list(["ok"]));
    let failed = |message: &str| Err(message.to_string());
    let cases: [(&'static [Fails], _, _, _); 8] = [
        (&[Value], ok(), 2, 1),
        (&[Key, Key], ok(), 3, 30),
        (&[Value, Value], failed("value error"), 2, 1),
        (&[Key, Key, Key], failed("key error"), 3, 30),
        (&[WrappedKey], ok(), 2, 10),
        (&[Other], failed("something else"), 1, 0),
        // Attempts are counted in all, as in LangGraph: the second policy's second wait, and no third attempt for the first.
        (&[Value, Key], ok(), 3, 21),
        (&[Key, Value], failed("value error"), 2, 10),
    ];
    for (plan, end, calls, waited) in cases {
        let expected = (end, calls, waited);
        let comparable = |(end, calls, waited): (Result<_, String>, _, u128)| {
            (
                end.map_err(|message| message.split(':').next().unwrap_or_default().to_string()),
                calls,
                waited,
            )
        };
        assert_eq!(
            comparable(tried!(Annotated, plan)),
            expected,
            "{plan:?} by annotation"
        );
        assert_eq!(
            comparable(tried!(Said, plan)),
            expected,
            "{plan:?} by `with`"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn c52_the_first_policy_that_covers_the_error_decides() {
    use Fails::{Other, Value};
    // The second policy covers any error, but is not asked about this one.
    let (end, calls, _) = tried!(Last, &[Value, Value]);
    assert_eq!((end.is_err(), calls), (true, 2));
    let (end, calls, waited) = tried!(Last, &[Other, Other]);
    assert_eq!((end, calls), (Ok(list(["ok"])), 3));
    assert!((300..310).contains(&waited), "{waited}");
}

#[node(Log, timeout = 5ms, retry = [Retry::attempts(4).on::<ValueError>(), 2])]
async fn stalls(trace: Managed<Trace>) {
    trace.record("called");
    std::future::pending::<()>().await;
}

flow_and_graph! { Stalls(Log) { stalls } nodes: stalls }

#[tokio::test(start_paused = true)]
async fn c52_a_timeout_is_covered_by_a_policy_without_a_condition() {
    let (kind, calls) = run_both!(Stalls, |launch| {
        let trace = Trace::default();
        (
            kind(launch.manage(trace.clone()).run(vec![]).await),
            trace.count("called"),
        )
    });
    assert!(
        matches!(kind, RunErrorKind::Node(error) if error.kind == FailureKind::Timeout && error.attempt == 2)
    );
    assert_eq!(calls, 2);
}

#[tokio::test(start_paused = true)]
async fn c52_the_builder_overrides_the_annotation_and_an_empty_list_does_not() {
    let graph = |retries: Vec<Retry>| {
        let builder = Graph::<Log>::builder("g").node(picky {});
        builder.edge(START, "picky").retry("picky", retries)
    };
    for (retries, calls) in [(vec![], 3), (vec![Retry::attempts(1)], 1)] {
        let trace = Trace::default();
        let launch = graph(retries).build().unwrap().launch();
        let launch = launch.manage(trace.clone()).manage(Plan(&[Fails::Key; 9]));
        expect_error(launch.run(vec![]).await);
        assert_eq!(trace.count("called"), calls);
    }
    assert_eq!(
        codes(graph(vec![]).retry("pciky", [Retry::attempts(2)])),
        ["PF002"]
    );
}
