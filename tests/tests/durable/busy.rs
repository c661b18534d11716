//! A thread that another run is working on.

use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{Address, Claim, InMemoryStore, Store};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{OnBusy, ThreadError};
use tokio::sync::{Notify, Semaphore};

use crate::support::{Log, LogXs, flow_and_graph, list, run_both};

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
async fn passes(door: Managed<Door>) -> petalflow::Result<LogXs> {
    door.reached.notify_one();
    door.open.acquire().await?.forget();
    Ok(LogXs(list(["passed"])))
}

flow_and_graph!(Passing(Log) { passes } nodes: passes);

#[tokio::test]
async fn a_busy_thread_is_refused_by_default() {
    run_both!(Passing, |launch| {
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&InMemoryStore::new());
        let first = tokio::spawn(threads.thread("t").run(list(["1"])));
        door.reached.notified().await;
        let error = threads.thread("t").run(list(["2"])).await.unwrap_err();
        assert!(
            matches!(error.thread_error(), Some(ThreadError::Busy { thread }) if thread == "t"),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.ends_with("busy with another run: wait for it, or set `.on_busy(..)`"),
            "{text}"
        );
        door.open.add_permits(1);
        first.await.unwrap().unwrap().into_finished().unwrap().xs
    });
}

#[tokio::test]
async fn a_run_may_wait_for_the_previous_run() {
    run_both!(Passing, |launch| {
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&InMemoryStore::new());
        let threads = threads.on_busy(OnBusy::Queue);
        let first = tokio::spawn(threads.thread("t").run(list(["1"])));
        door.reached.notified().await;
        let second = tokio::spawn(threads.thread("t").run(list(["2"])));
        door.open.add_permits(2);
        first.await.unwrap().unwrap().into_finished().unwrap();
        let log = second.await.unwrap().unwrap().into_finished().unwrap();
        assert_eq!(log.xs, ["1", "passed", "2", "passed"]);
        log
    });
}

#[tokio::test]
async fn a_run_may_cancel_the_previous_run() {
    run_both!(Passing, |launch| {
        let door = Door::shut();
        let threads = launch.manage(door.clone()).store(&InMemoryStore::new());
        let threads = threads.on_busy(OnBusy::Cancel);
        let first = tokio::spawn(threads.thread("t").run(list(["1"])));
        door.reached.notified().await;
        let second = tokio::spawn(threads.thread("t").run(list(["2"])));
        let error = first.await.unwrap().unwrap_err();
        assert_eq!(*error.kind(), RunErrorKind::Cancelled);
        door.open.add_permits(1);
        let log = second.await.unwrap().unwrap().into_finished().unwrap();
        assert_eq!(log.xs, ["1", "2", "passed"]);
        log
    });
}

#[tokio::test(start_paused = true)]
async fn f43_a_run_may_cancel_the_run_of_another_process() {
    run_both!(Passing, |launch| {
        let store = InMemoryStore::new();
        let door = Door::shut();
        door.open.add_permits(1);
        let threads = launch.manage(door).store(&store).on_busy(OnBusy::Cancel);
        let claim = store.claim("t", "another process").await.unwrap();
        assert_eq!(claim, Claim::Granted);
        let run = tokio::spawn(threads.thread("t").run(list(["1"])));
        // The other process would read this. The thread has nothing else yet.
        let stops = Address {
            thread: "t",
            namespace: "/stops",
        };
        while store.writes(stops, 0..1).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert!(!run.is_finished());
        store.release("t", "another process");
        run.await.unwrap().unwrap().into_finished().unwrap().xs
    });
}
