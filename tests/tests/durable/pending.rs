//! What finished is kept, and not run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::checkpoint::MemoryStore;
use petalflow::prelude::*;
use petalflow::{CancelToken, Retry, RunErrorKind};

use crate::support::{both, twin};

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

#[node(Sum, retry = Retry::times(2).first(Duration::ZERO))]
async fn two(calls: Managed<Calls>) -> petalflow::Result<SumValue> {
    calls.two.fetch_add(1, Ordering::SeqCst);
    if calls.mended.load(Ordering::SeqCst) == 0 {
        return Err("I'm not good".into());
    }
    Ok(SumValue(3))
}

twin!(Fork(Sum) { START -> one & two; } nodes: one, two);

#[tokio::test]
async fn c46_successful_siblings_are_not_run_again() {
    both!(Fork, |launch| {
        let calls = Arc::new(Calls::default());
        let store = MemoryStore::new();
        let thread = launch
            .manage_shared(Arc::clone(&calls))
            .store(&store)
            .thread("t");
        let counts = || {
            (
                calls.one.load(Ordering::SeqCst),
                calls.two.load(Ordering::SeqCst),
            )
        };
        let error = thread.run(1).await.unwrap_err();
        assert!(error.to_string().contains("I'm not good"), "{error}");
        assert_eq!(counts(), (1, 2));
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.state.value, 1);
        assert_eq!(snapshot.info.next, ["one", "two"]);
        let [first, second] = &snapshot.tasks[..] else {
            panic!("two tasks: {:?}", snapshot.tasks)
        };
        assert!(first.finished && first.error.is_none());
        assert!(!second.finished);
        assert_eq!(second.error.as_ref().unwrap().message, "I'm not good");

        thread.resume(()).await.unwrap_err();
        assert_eq!(counts(), (1, 4));
        calls.mended.store(1, Ordering::SeqCst);
        let sum = thread.resume(()).await.unwrap().finished().unwrap();
        assert_eq!(sum.value, 6);
        assert_eq!(counts(), (1, 5));
        assert_eq!(
            thread
                .history(petalflow::thread::HistoryQuery::all())
                .await
                .unwrap()
                .len(),
            2
        );
        // A thread that has ended stays as it is.
        let sum = thread.resume(()).await.unwrap().finished().unwrap();
        assert_eq!(sum.value, 6);
        assert_eq!(counts(), (1, 5));
        sum
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

twin!(Recover(Steps) { START -> node1 -> node2; } nodes: node1, node2);

#[tokio::test]
async fn c49_new_input_after_a_failure_starts_afresh_from_the_same_state() {
    both!(Recover, |launch| {
        let thread = launch.store(&MemoryStore::new()).thread("t");
        let input = |steps: &[&str], attempt| StepsInput {
            steps: steps.iter().map(|step| (*step).to_string()).collect(),
            attempt,
        };
        thread.run(input(&["start"], 1)).await.unwrap_err();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.state.steps, ["start"]);
        assert_eq!(snapshot.info.next, ["node1"]);
        let error = snapshot.tasks[0].error.as_ref().unwrap();
        assert!(error.message.contains("Simulated failure"));
        let steps = thread.run(input(&[], 2)).await.unwrap().finished().unwrap();
        assert_eq!(steps.steps, ["start", "node1", "node2"]);
        thread.delete().await.unwrap();
        assert!(thread.state().await.unwrap().is_none());
        steps
    });
}

#[tokio::test]
async fn c61_a_drained_thread_goes_on_where_it_stopped() {
    #[node(Steps)]
    async fn stop(token: Managed<CancelToken>) -> StepsSteps {
        token.drain();
        StepsSteps(vec!["stop".into()])
    }
    flow!(Stop(Steps) { START -> stop -> node2; });

    let store = MemoryStore::new();
    let token = CancelToken::new();
    let input = StepsInput {
        steps: vec![],
        attempt: 0,
    };
    let first = Stop::new().cancel_with(&token).manage(token.clone());
    let error = first
        .store(&store)
        .thread("t")
        .run(input)
        .await
        .unwrap_err();
    assert_eq!(
        *error.kind(),
        RunErrorKind::Drained {
            next: vec!["node2".into()]
        }
    );
    let again = Stop::new()
        .manage(CancelToken::new())
        .store(&store)
        .thread("t");
    let steps = again.resume(()).await.unwrap().finished().unwrap();
    assert_eq!(steps.steps, ["stop", "node2"]);
}
