//! Results of finished tasks are stored, and the tasks do not run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::NodeError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{Durability, HistoryQuery};
use petalflow_test_support::assert_contains;

use crate::support::{Log, LogXs, expect_finished, flow_and_graph, list, run_both};

#[state]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sum {
    #[key(input, sum)]
    value: i64,
}

#[derive(Default)]
struct Calls {
    one: AtomicUsize,
    two: AtomicUsize,
    mended: AtomicUsize,
}

#[node(Sum)]
async fn one(calls: Managed<Calls>) -> SumValue {
    calls.one.fetch_add(1, Ordering::SeqCst);
    SumValue(2)
}

#[node(Sum, retry = Retry::attempts(2).first(Duration::ZERO))]
async fn two(calls: Managed<Calls>) -> petalflow::Result<SumValue> {
    calls.two.fetch_add(1, Ordering::SeqCst);
    if calls.mended.load(Ordering::SeqCst) == 0 {
        return Err("I'm not good".into());
    }
    Ok(SumValue(3))
}

flow_and_graph!(Fork(Sum) { START -> one & two; } nodes: one, two);

#[tokio::test]
async fn c46_successful_siblings_are_not_run_again() {
    run_both!(Fork, |launch| {
        let calls = Arc::new(Calls::default());
        let store = InMemoryStore::new();
        let thread = launch
            .manage_with(Arc::clone(&calls))
            .store(&store)
            .thread("t");
        let counts = || {
            (
                calls.one.load(Ordering::SeqCst),
                calls.two.load(Ordering::SeqCst),
            )
        };
        let error = thread.run(1).await.unwrap_err();
        assert_contains(&error, "I'm not good");
        assert_eq!(counts(), (1, 2));
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.value, 1);
        assert_eq!(snapshot.info.next, ["two"]);
        let [first, second] = &snapshot.tasks[..] else {
            panic!("two tasks: {:?}", snapshot.tasks)
        };
        assert!(first.finished && first.error.is_none());
        assert!(!second.finished);
        assert_eq!(second.error.as_ref().unwrap().message, "I'm not good");

        // The checkpoint itself is unchanged; the task records are beside it.
        let at = thread.snapshot_at(snapshot.info.checkpoint).await.unwrap();
        assert_eq!((at.state.value, &at.info.next), (1, &snapshot.info.next));

        thread.resume(()).await.unwrap_err();
        assert_eq!(counts(), (1, 4));
        calls.mended.store(1, Ordering::SeqCst);
        let sum = expect_finished(thread.resume(())).await;
        assert_eq!(sum.value, 6);
        assert_eq!(counts(), (1, 5));
        assert_eq!(thread.history(HistoryQuery::all()).await.unwrap().len(), 2);
        // A thread that has ended stays as it is.
        let sum = expect_finished(thread.resume(())).await;
        assert_eq!(sum.value, 6);
        assert_eq!(counts(), (1, 5));
        sum
    });
}

#[tokio::test]
async fn c46_the_same_when_checkpoints_are_written_at_the_end() {
    run_both!(Fork, |launch| {
        let calls = Arc::new(Calls::default());
        let launch = launch.manage_with(Arc::clone(&calls));
        let threads = launch
            .store(&InMemoryStore::new())
            .durability(Durability::Exit);
        let thread = threads.thread("t");
        thread.run(1).await.unwrap_err();
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.value, 1);
        assert!(snapshot.tasks[0].finished && !snapshot.tasks[1].finished);
        calls.mended.store(1, Ordering::SeqCst);
        let sum = expect_finished(thread.resume(())).await;
        assert_eq!(sum.value, 6);
        assert_eq!(calls.one.load(Ordering::SeqCst), 1);
        // One where it failed, one where it ended.
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        assert_eq!(history.len(), 2);
        sum
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Totals {
    #[key(input)]
    given: i64,
    #[key(sum)]
    total: i64,
    #[key(default)]
    output: i64,
}

#[derive(Default)]
struct Flaky(AtomicUsize);

#[node(Totals, retry = Retry::attempts(3).first(Duration::ZERO).on::<std::io::Error>())]
async fn add(
    given: &i64,
    total: &i64,
    flaky: Managed<Flaky>,
) -> petalflow::Result<(TotalsOutput, TotalsTotal)> {
    let x = total + given;
    if x > 10 {
        return Err("Input is too large".into());
    }
    if x > 4 && flaky.0.fetch_add(1, Ordering::SeqCst) == 0 {
        return Err(std::io::Error::other("the line is busy").into());
    }
    Ok((TotalsOutput(x), TotalsTotal(x)))
}

flow_and_graph!(Adding(Totals) { add } nodes: add);

#[tokio::test]
async fn c48_on_a_thread_a_failed_superstep_applies_nothing() {
    run_both!(Adding, |launch| {
        let threads = launch.manage(Flaky::default()).store(&InMemoryStore::new());
        let (one, two) = (threads.thread("1"), threads.thread("2"));
        assert_eq!(one.run(2).await.unwrap().state().output, 2);
        let totals = expect_finished(one.run(3)).await;
        assert_eq!((totals.output, totals.total), (5, 7));
        let error = one.run(4).await.unwrap_err();
        assert_contains(&error, "Input is too large");
        let snapshot = one.snapshot().await.unwrap().unwrap();
        assert_eq!((snapshot.state.total, snapshot.state.given), (7, 4));
        let [task] = &snapshot.tasks[..] else {
            panic!("{:?}", snapshot.tasks)
        };
        assert!(!task.finished);
        assert_eq!(task.error.as_ref().unwrap().message, "Input is too large");
        assert_eq!(two.run(5).await.unwrap().state().total, 5);
        let snapshot = one.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.total, 7);
        totals
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Steps {
    #[key(input, append)]
    steps: Vec<String>,
    #[key(input)]
    attempt: u32,
}

#[node(Steps)]
async fn node1(attempt: &u32) -> petalflow::Result<StepsSteps> {
    if *attempt == 1 {
        return Err("Simulated failure".into());
    }
    Ok(StepsSteps(vec!["node1".into()]))
}

#[node(Steps)]
async fn node2() -> StepsSteps {
    StepsSteps(vec!["node2".into()])
}

flow_and_graph!(Recover(Steps) { START -> node1 -> node2; } nodes: node1, node2);

#[tokio::test]
async fn c49_an_input_after_a_failure_starts_a_new_turn_from_the_same_state() {
    run_both!(Recover, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let input = |steps: &[&str], attempt| StepsInput {
            steps: steps.iter().map(|step| (*step).to_string()).collect(),
            attempt,
        };
        thread.run(input(&["start"], 1)).await.unwrap_err();
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.steps, ["start"]);
        assert_eq!(snapshot.info.next, ["node1"]);
        let error = snapshot.tasks[0].error.as_ref().unwrap();
        assert!(error.message.contains("Simulated failure"));
        let steps = expect_finished(thread.run(input(&[], 2))).await;
        assert_eq!(steps.steps, ["start", "node1", "node2"]);
        // Two inputs and two supersteps; LangGraph counts the empty thread before each input as well.
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let turns: Vec<_> = history
            .iter()
            .map(|info| (info.turn, info.superstep))
            .collect();
        assert_eq!(turns, [(2, 2), (2, 1), (2, 0), (1, 0)]);
        thread.delete().await.unwrap();
        assert!(thread.snapshot().await.unwrap().is_none());
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        assert!(history.is_empty());
        steps
    });
}

#[node(Steps)]
async fn stop(token: Managed<CancelToken>) -> StepsSteps {
    token.drain();
    StepsSteps(vec!["stop".into()])
}

flow_and_graph!(Stop(Steps) { START -> stop -> node2; } nodes: stop, node2);
flow_and_graph!(StopLast(Steps) { START -> node2 -> stop; } nodes: stop, node2);

#[tokio::test]
async fn c61_a_drained_thread_resumes_where_it_stopped() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        run_both!(Stop, |launch| {
            let store = InMemoryStore::new();
            let token = CancelToken::new();
            let input = StepsInput {
                steps: vec![],
                attempt: 0,
            };
            let first = launch.clone().cancel_with(&token).manage(token.clone());
            let first = first.store(&store).durability(durability).thread("t");
            let error = first.run(input).await.unwrap_err();
            assert_eq!(
                *error.kind(),
                RunErrorKind::Drained {
                    next: vec!["node2".into()]
                }
            );
            let snapshot = first.snapshot().await.unwrap().unwrap();
            assert_eq!(
                snapshot.state.steps,
                ["stop"],
                "committed, whatever the durability"
            );
            let again = launch.manage(CancelToken::new()).store(&store).thread("t");
            let steps = expect_finished(again.resume(())).await;
            assert_eq!(steps.steps, ["stop", "node2"]);
            steps
        });
    }
}

#[tokio::test]
async fn c61_a_drain_in_the_last_superstep_of_a_thread_changes_nothing() {
    run_both!(StopLast, |launch| {
        let token = CancelToken::new();
        let launch = launch.cancel_with(&token).manage(token.clone());
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let input = StepsInput {
            steps: vec![],
            attempt: 0,
        };
        let steps = expect_finished(thread.run(input)).await;
        assert_eq!(steps.steps, ["node2", "stop"]);
        steps
    });
}

#[node(Sum)]
async fn charges(cx: Context, calls: Managed<Calls>) -> petalflow::Result<SumValue> {
    let charged = cx.once("charge", async {
        calls.one.fetch_add(1, Ordering::SeqCst);
        Ok::<_, petalflow::BoxError>(7)
    });
    let charged = charged.await?;
    if calls.mended.load(Ordering::SeqCst) == 0 {
        return Err("after the charge".into());
    }
    Ok(SumValue(charged))
}

flow_and_graph!(Charge(Sum) { charges } nodes: charges);

#[tokio::test]
async fn effects_of_once_are_not_repeated_with_any_durability() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        run_both!(Charge, |launch| {
            let calls = Arc::new(Calls::default());
            let threads = launch
                .manage_with(Arc::clone(&calls))
                .store(&InMemoryStore::new());
            let thread = threads.durability(durability).thread("t");
            thread.run(0).await.unwrap_err();
            calls.mended.store(1, Ordering::SeqCst);
            assert_eq!(expect_finished(thread.resume(())).await.value, 7);
            assert_eq!(calls.one.load(Ordering::SeqCst), 1, "{durability:?}");
            // A new turn is a new charge.
            assert_eq!(expect_finished(thread.run(0)).await.value, 14);
            assert_eq!(calls.one.load(Ordering::SeqCst), 2, "{durability:?}");
        });
    }
}

#[node(Log)]
async fn falls() -> petalflow::Result<LogXs> {
    Err("a stone in the way".into())
}

#[node(Log)]
async fn handles(
    #[item] failure: &NodeError,
    trace: Managed<AtomicUsize>,
) -> petalflow::Result<LogXs> {
    if trace.fetch_add(1, Ordering::SeqCst) == 0 {
        return Err("not yet".into());
    }
    Ok(LogXs(vec![format!(
        "{} after {}",
        failure.node, failure.message
    )]))
}

flow_and_graph!(Falls(Log) { falls; catch falls -> handles; } nodes: falls, handles);

#[tokio::test]
async fn c59_a_caught_failure_survives_a_checkpoint_and_a_resume() {
    run_both!(Falls, |launch| {
        let thread = launch
            .manage(AtomicUsize::new(0))
            .store(&InMemoryStore::new())
            .thread("t");
        thread.run(list([])).await.unwrap_err();
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.info.next, ["handles"]);
        let log = expect_finished(thread.resume(())).await;
        assert_eq!(log.xs, ["falls after a stone in the way"]);
        log
    });
}
