//! Runs that undo the turn of another run: `OnBusy::Rollback`.

use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{HistoryQuery, OnBusy, StoredThreads};
use tokio::sync::{Notify, Semaphore};

use crate::support::{Log, LogXs, expect_finished, flow_and_graph, list, run_both};

/// Reports when a run has reached the node. Lets one run continue per permit.
#[derive(Clone)]
struct Door {
    reached: Arc<Notify>,
    open: Arc<Semaphore>,
}

impl Door {
    fn shut() -> Self {
        Door {
            reached: Arc::default(),
            open: Arc::new(Semaphore::new(0)),
        }
    }
}

#[node(Log)]
async fn begins() -> LogXs {
    LogXs(list(["begun"]))
}

#[node(Log)]
async fn passes(door: Managed<Door>) -> petalflow::Result<LogXs> {
    door.reached.notify_one();
    door.open.acquire().await?.forget();
    Ok(LogXs(list(["passed"])))
}

flow_and_graph!(Passing(Log) { begins -> passes } nodes: begins, passes);

#[tokio::test]
async fn f43_a_run_may_undo_the_turn_of_the_previous_run() {
    run_both!(Passing, |launch| {
        let store = InMemoryStore::new();
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&store);
        let thread = threads.on_busy(OnBusy::Rollback).thread("t");
        door.open.add_permits(1);
        expect_finished(thread.run(list(["1"]))).await;
        door.reached.notified().await;
        let second = tokio::spawn(thread.run(list(["2"])));
        door.reached.notified().await;
        let third = tokio::spawn(thread.run(list(["3"])));
        let error = second.await.unwrap().unwrap_err();
        assert_eq!(*error.kind(), RunErrorKind::Cancelled);
        door.open.add_permits(1);
        let log = third.await.unwrap().unwrap().into_finished().unwrap();
        assert_eq!(log.xs, ["1", "begun", "passed", "3", "begun", "passed"]);
        // What was undone is still in the history, and the thread is whole.
        let history = thread.history(HistoryQuery::default()).await.unwrap();
        assert_eq!(history.len(), 3 + 2 + 3);
        let problems = StoredThreads::new(&store).verify("t").await.unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        // A turn that has finished is not undone.
        door.open.add_permits(1);
        assert_eq!(expect_finished(thread.run(list(["4"]))).await.xs.len(), 9);
        log
    });
}

#[tokio::test]
async fn f43_the_first_turn_of_a_thread_can_be_undone() {
    run_both!(Passing, |launch| {
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&InMemoryStore::new());
        let thread = threads.on_busy(OnBusy::Rollback).thread("t");
        let first = tokio::spawn(thread.run(list(["1"])));
        door.reached.notified().await;
        let second = tokio::spawn(thread.run(list(["2"])));
        first.await.unwrap().unwrap_err();
        door.open.add_permits(1);
        let log = second.await.unwrap().unwrap().into_finished().unwrap();
        assert_eq!(log.xs, ["2", "begun", "passed"]);
        log
    });
}

#[tokio::test]
async fn f43_a_turn_that_was_stopped_before_is_undone_and_one_that_a_person_has_edited_is_not() {
    run_both!(Passing, |launch| {
        let store = InMemoryStore::new();
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&store);
        let (thread, plain) = (
            threads.clone().on_busy(OnBusy::Rollback).thread("t"),
            threads.thread("t"),
        );
        let stopped = tokio::spawn(plain.run(list(["1"])));
        door.reached.notified().await;
        assert_eq!(plain.cancel().await.unwrap(), ThreadStatus::Held);
        stopped.await.unwrap().unwrap_err();
        door.open.add_permits(1);
        let log = expect_finished(thread.run(list(["2"]))).await;
        assert_eq!(log.xs, ["2", "begun", "passed"]);
        door.reached.notified().await;

        // A person goes back to the checkpoint before the last node.
        let history = thread.history(HistoryQuery::default()).await.unwrap();
        thread.fork(history[1].checkpoint).await.unwrap();
        door.open.add_permits(1);
        let log = expect_finished(thread.run(list(["3"]))).await;
        assert_eq!(log.xs, ["2", "begun", "3", "begun", "passed"]);
        log
    });
}

#[state]
struct Count {
    #[key(sum)]
    n: u32,
}

#[node(Count)]
async fn one() -> CountN {
    CountN(1)
}

flow!(CountOne(Count) { one });

flow!(CountAndPass(Log) {
    node count: CountOne { in: || (), out: |count: Count| LogXs(vec![count.n.to_string()]), keep: thread };
    count -> passes;
});

#[tokio::test]
async fn f43_what_a_sub_flow_retains_is_undone_with_the_turn() {
    let door = Door::shut();
    let threads = CountAndPass::new()
        .manage(door.clone())
        .store(&InMemoryStore::new());
    let thread = threads.on_busy(OnBusy::Rollback).thread("t");
    for undone in [true, false, true, false] {
        let first = tokio::spawn(thread.run(list(["undone"])));
        door.reached.notified().await;
        if undone {
            let next = tokio::spawn(thread.run(list(["kept"])));
            first.await.unwrap().unwrap_err();
            door.reached.notified().await;
            door.open.add_permits(1);
            next.await.unwrap().unwrap().into_finished().unwrap();
        } else {
            door.open.add_permits(1);
            first.await.unwrap().unwrap().into_finished().unwrap();
        }
    }
    let log = thread.snapshot().await.unwrap().unwrap().state;
    let counts = log.xs.iter().filter(|line| line.parse::<u32>().is_ok());
    assert_eq!(counts.collect::<Vec<_>>(), ["1", "2", "3", "4"], "{log:?}");
}
