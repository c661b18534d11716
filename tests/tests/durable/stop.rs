//! Commands to the run that has a thread.

use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{
    Address, InMemoryStore, Store, StoredWrite, ThreadQuery, ThreadStatus,
};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Outcome, StoredThreads, Thread, ThreadError};
use tokio::sync::{Notify, Semaphore};

use crate::support::{Log, LogXs, list};

/// Reports when a run has reached the first node. Lets one run continue per permit.
#[derive(Clone)]
struct Door {
    reached: Arc<Notify>,
    open: Arc<Semaphore>,
}

#[node(Log)]
async fn enters(door: Managed<Door>) -> petalflow::Result<LogXs> {
    door.reached.notify_one();
    door.open.acquire().await?.forget();
    Ok(LogXs(list(["entered"])))
}

#[node(Log)]
async fn leaves() -> LogXs {
    LogXs(list(["left"]))
}

flow!(Visiting(Log) { enters -> leaves });

struct Visit {
    store: InMemoryStore,
    thread: Thread<Visiting>,
    door: Door,
}

impl Visit {
    fn new() -> Self {
        let store = InMemoryStore::new();
        let door = Door {
            reached: Arc::default(),
            open: Arc::new(Semaphore::new(0)),
        };
        let thread = Visiting::new()
            .manage(door.clone())
            .store(&store)
            .thread("t");
        Visit {
            store,
            thread,
            door,
        }
    }

    async fn status(&self) -> ThreadStatus {
        let listed = self.store.threads(ThreadQuery::default()).await.unwrap();
        listed[0].status
    }

    async fn stops(&self) -> Vec<(u64, StoredWrite)> {
        let address = Address {
            thread: "t",
            namespace: "/stops",
        };
        self.store.writes(address, 0..1).await.unwrap()
    }

    /// Begins a run that waits in its first node.
    async fn begin(&self) -> tokio::task::JoinHandle<Result<Outcome<Log>, petalflow::RunError>> {
        let run = tokio::spawn(self.thread.run(list(["begun"])).into_future());
        self.door.reached.notified().await;
        run
    }
}

#[tokio::test]
async fn f43_a_cancelled_thread_is_held_and_resumes() {
    let visit = Visit::new();
    let run = visit.begin().await;
    assert_eq!(visit.thread.cancel().await.unwrap(), ThreadStatus::Held);
    let error = run.await.unwrap().unwrap_err();
    assert_eq!(*error.kind(), RunErrorKind::Cancelled);
    let held = visit.thread.recover().await.unwrap_err();
    assert!(matches!(
        held.thread_error(),
        Some(ThreadError::Held { .. })
    ));
    // Repeated, it changes nothing.
    assert_eq!(visit.thread.cancel().await.unwrap(), ThreadStatus::Held);
    visit.door.open.add_permits(1);
    let log = visit
        .thread
        .resume(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(log.xs, ["begun", "entered", "left"]);
    // The run has just ended.
    assert_eq!(visit.thread.cancel().await.unwrap(), ThreadStatus::Finished);
}

#[tokio::test]
async fn f43_a_thread_stops_at_its_next_barrier_and_is_held_or_left_to_others() {
    for (holds, status) in [(true, ThreadStatus::Held), (false, ThreadStatus::Stopped)] {
        let visit = Visit::new();
        let run = visit.begin().await;
        let thread = visit.thread.clone();
        let stopped = tokio::spawn(async move {
            if holds {
                thread.hold().await
            } else {
                thread.drain().await
            }
        });
        tokio::task::yield_now().await;
        assert!(!stopped.is_finished(), "the superstep goes on");
        visit.door.open.add_permits(1);
        assert_eq!(stopped.await.unwrap().unwrap(), status);
        let error = run.await.unwrap().unwrap_err();
        let next = vec!["leaves".to_string()];
        assert_eq!(*error.kind(), RunErrorKind::Drained { next });
        assert_eq!(visit.status().await, status);
        let recovered = visit.thread.recover().await;
        assert_eq!(recovered.is_err(), holds, "{recovered:?}");
        let log = visit.thread.resume(()).await.unwrap();
        let log = log.into_finished().unwrap();
        assert_eq!(log.xs, ["begun", "entered", "left"]);
    }
}

#[tokio::test]
async fn f43_a_thread_whose_run_was_dropped_is_held_by_the_caller() {
    let visit = Visit::new();
    let run = visit.begin().await;
    let thread = visit.thread.clone();
    let stopped = tokio::spawn(async move { thread.hold().await });
    tokio::task::yield_now().await;
    run.abort();
    assert_eq!(stopped.await.unwrap().unwrap(), ThreadStatus::Held);
    assert_eq!(visit.status().await, ThreadStatus::Held);
}

#[tokio::test]
async fn f43_a_thread_without_a_run_is_held_at_once() {
    let visit = Visit::new();
    let run = visit.begin().await;
    run.abort();
    run.await.unwrap_err();
    assert_eq!(visit.thread.drain().await.unwrap(), ThreadStatus::Running);
    let threads = StoredThreads::new(&visit.store);
    assert_eq!(threads.hold("t").await.unwrap(), ThreadStatus::Held);
    let listed = visit.store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(listed[0].status, ThreadStatus::Held);
    for unknown in [threads.cancel("u").await, threads.hold("u").await] {
        let error = unknown.unwrap_err();
        assert!(matches!(error, ThreadError::Unknown { .. }), "{error}");
    }
    assert!(visit.store.namespaces("u").await.unwrap().is_empty());
}

/// Another process claims the thread, and ends without a look at the command.
#[tokio::test(start_paused = true)]
async fn f43_a_command_that_the_other_process_does_not_carry_out_is_carried_out_by_the_caller() {
    let visit = Visit::new();
    let run = visit.begin().await;
    run.abort();
    run.await.unwrap_err();
    visit.store.claim("t", "another process").await.unwrap();
    let thread = visit.thread.clone();
    let stopped = tokio::spawn(async move { thread.cancel().await });
    while visit.stops().await.is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let names: Vec<String> = visit
        .stops()
        .await
        .into_iter()
        .map(|it| it.1.name)
        .collect();
    assert_eq!(names, ["stop/cancel"]);
    assert!(
        StoredThreads::new(&visit.store)
            .verify("t")
            .await
            .unwrap()
            .is_empty()
    );
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(!stopped.is_finished());
    visit.store.release("t", "another process");
    // A third one has the thread before the caller: it is told, too.
    visit.store.claim("t", "a third process").await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!stopped.is_finished());
    visit.store.release("t", "a third process");
    assert_eq!(stopped.await.unwrap().unwrap(), ThreadStatus::Held);
    assert!(
        visit.stops().await.is_empty(),
        "it is removed with its effect"
    );
}
