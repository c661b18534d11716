//! The limit on supersteps, and fairness to other tasks of the runtime.

use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

use crate::support::{Log, appending, expect_error, flow_and_graph, kind, list, run_both};

appending!(a b c);

flow_and_graph! { Chain(Log) { a -> b -> c; } nodes: a, b, c }
flow_and_graph! { Fork(Log) { START -> a & b; a & b -> c; } nodes: a, b, c }

#[tokio::test]
async fn c44_p055_an_empty_input_runs() {
    assert_eq!(
        run_both!(Chain, |launch| launch
            .run(LogInput::default())
            .await
            .unwrap()
            .xs),
        ["a", "b", "c"]
    );
}

use crate::support::LogInput;

#[tokio::test]
async fn c45_n_supersteps_need_a_limit_of_n() {
    assert_eq!(
        run_both!(Chain, |launch| launch
            .limit(3)
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["a", "b", "c"]
    );
    assert_eq!(
        run_both!(Fork, |launch| launch.limit(2).run(vec![]).await.unwrap().xs),
        ["a", "b", "c"]
    );
}

#[tokio::test]
async fn c45_one_less_fails_before_the_node_runs() {
    // LangGraph raises although the node ran.
    let (kind, xs, superstep) = run_both!(Chain, |launch| {
        let error = expect_error(launch.limit(2).run(vec![]).await);
        (
            error.kind().clone(),
            error.state::<Log>().unwrap().xs.clone(),
            error.superstep(),
        )
    });
    assert_eq!(
        kind,
        RunErrorKind::Limit {
            limit: 2,
            next: list(["c"])
        }
    );
    assert_eq!((xs, superstep), (list(["a", "b"]), 2));
    let next = run_both!(Fork, |launch| kind_of(launch.limit(0).run(vec![]).await));
    assert_eq!(
        next,
        RunErrorKind::Limit {
            limit: 0,
            next: list(["a", "b"])
        }
    );
}

fn kind_of(result: Result<Log, petalflow::RunError>) -> RunErrorKind {
    kind(result)
}

#[tokio::test]
async fn c45_the_message_names_the_solution() {
    let text = expect_error(Chain::new().limit(2).run(vec![]).await).to_string();
    assert_eq!(
        text,
        "`Chain` did not end within 2 supersteps (next: `c`); raise it with `.limit(..)` if the loop is meant to be that long"
    );
}

#[state]
#[derive(Debug, PartialEq)]
struct Counter {
    #[key(sum)]
    n: u64,
    #[key(append)]
    remaining: Vec<u64>,
}

#[node(Counter)]
async fn count() -> (CounterN, bool) {
    (CounterN(1), true)
}

flow_and_graph! { Endless(Counter) { count -> match { true => count, false => END }; } nodes: count }

#[tokio::test]
async fn c45_g001_g031_an_endless_loop_stops_at_the_limit() {
    let at = |limit: Option<u64>| async move {
        run_both!(Endless, |launch| {
            let launch = if let Some(limit) = limit {
                launch.limit(limit)
            } else {
                launch
            };
            let error = expect_error(launch.run(()).await);
            (
                error.kind().clone(),
                error.into_state::<Counter>().unwrap().n,
            )
        })
    };
    assert_eq!(
        at(Some(5)).await,
        (
            RunErrorKind::Limit {
                limit: 5,
                next: list(["count"])
            },
            5
        )
    );
    assert_eq!(
        at(None).await,
        (
            RunErrorKind::Limit {
                limit: 100,
                next: list(["count"])
            },
            100
        )
    );
}

#[node(Counter)]
async fn note(cx: Context) -> (CounterRemaining, bool) {
    (
        CounterRemaining(vec![cx.remaining_supersteps()]),
        cx.remaining_supersteps() > 0,
    )
}

flow_and_graph! { UseUp(Counter) { note -> match { true => note, false => END }; } nodes: note }

#[tokio::test]
async fn c45_a_node_knows_how_many_supersteps_are_left() {
    assert_eq!(
        run_both!(UseUp, |launch| launch
            .limit(4)
            .run(())
            .await
            .unwrap()
            .remaining),
        [3, 2, 1, 0]
    );
}

#[tokio::test]
async fn a_long_run_lets_other_tasks_run() {
    // On one thread, with nodes that never wait: only the driver's own breaths let the other task in.
    let other = tokio::spawn(async {});
    let run = Endless::new().limit(1_000).run(());
    let mut breaths = 0;
    let mut run = std::pin::pin!(run);
    let result = std::future::poll_fn(|cx| {
        breaths += 1;
        run.as_mut().poll(cx)
    })
    .await;
    assert!(matches!(kind(result), RunErrorKind::Limit { .. }));
    assert!(breaths >= 1_000 / 128, "polled {breaths} times");
    assert!(other.is_finished());
}

#[node(Counter)]
async fn thousand(n: &u64) -> (CounterN, bool) {
    (CounterN(1), *n + 1 < 1_000)
}

flow_and_graph! { Thousand(Counter) { thousand -> match { true => thousand, false => END }; } nodes: thousand }

#[tokio::test]
async fn c45_the_limit_has_no_maximum() {
    assert_eq!(
        run_both!(Thousand, |launch| launch
            .limit(1_000)
            .run(())
            .await
            .unwrap()
            .n),
        1_000
    );
    assert_eq!(
        run_both!(Thousand, |launch| launch
            .limit(u64::MAX)
            .run(())
            .await
            .unwrap()
            .n),
        1_000
    );
    assert!(matches!(
        run_both!(Thousand, |launch| expect_error(
            launch.limit(999).run(()).await
        )
        .kind()
        .clone()),
        RunErrorKind::Limit { .. }
    ));
}
