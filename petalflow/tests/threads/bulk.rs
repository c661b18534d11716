//! Operations on many threads: deletion, resuming, questions that expire.

use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store, ThreadOrder, ThreadQuery, ThreadStatus};
use petalflow::thread::Threads;

use super::retention::Rounds;
use super::{DoWork, Hour, SOON, ids, info, launch, thread};

const ALL: ThreadQuery<'_> = ThreadQuery {
    prefix: "",
    after: None,
    after_ms: 0,
    order: ThreadOrder::Id,
    limit: None,
    status: None,
    flow: None,
    label: None,
    filter: None,
    created_from_ms: None,
    created_before_ms: None,
    updated_from_ms: None,
    updated_before_ms: None,
    due_by_ms: None,
};

async fn finished(threads: &Threads<DoWork>, count: usize) {
    for index in 0..count {
        let thread = threads.thread(format!("thread-{index:04}"));
        thread
            .run("once".to_string())
            .await
            .unwrap()
            .into_finished()
            .unwrap();
    }
}

#[tokio::test]
async fn finished_threads_are_deleted_and_others_remain() {
    let store = InMemoryStore::new();
    let threads = launch().store(&store);
    finished(&threads, 600).await;
    let _ = threads
        .thread("waiting")
        .run("ask".to_string())
        .await
        .unwrap();
    let mut events = threads
        .thread("thread-0300")
        .run("hang".to_string())
        .events();
    while events.next().await.unwrap().node().is_none() {}
    let old = ThreadQuery {
        status: Some(ThreadStatus::Finished),
        updated_before_ms: Some(u64::MAX),
        ..ALL
    };
    let some = ThreadQuery {
        limit: Some(5),
        prefix: "thread-00",
        ..old
    };
    assert_eq!(threads.delete_all(some).await.unwrap(), 5);
    assert_eq!(threads.delete_all(old).await.unwrap(), 594);
    assert_eq!(ids(&threads, ALL).await, ["thread-0300", "waiting"]);
    assert_eq!(
        threads.delete_all(ALL).await.unwrap(),
        1,
        "a thread that is busy remains"
    );
    assert_eq!(ids(&threads, ALL).await, ["thread-0300"]);
    drop(events);
    assert_eq!(threads.delete_all(ALL).await.unwrap(), 1);
    threads.reclaim().await.unwrap();
}

#[tokio::test]
async fn a_sweep_resumes_what_is_due() {
    let store = InMemoryStore::new();
    let threads = launch().store(&store);
    let due: Vec<_> = (0..40)
        .map(|index| threads.thread(format!("due-{index}")))
        .collect();
    for thread in &due {
        let _ = thread.run("ask now".to_string()).await.unwrap();
        assert_eq!(info(thread).await.status, ThreadStatus::Waiting);
    }
    let later = threads.thread("later");
    let _ = later.run("ask".to_string()).await.unwrap();
    assert!(
        threads.sweep().await.unwrap().is_empty(),
        "nothing is due yet"
    );
    tokio::time::sleep(SOON).await;
    let swept = threads.sweep().await.unwrap();
    assert_eq!(swept.len(), 40);
    for (id, result) in swept {
        let work = result.unwrap().into_finished().unwrap();
        assert!(id.starts_with("due-"));
        assert_eq!(work.answer, "nobody answered");
    }
    assert_eq!(info(&later).await.status, ThreadStatus::Waiting);
    assert!(
        threads.sweep().await.unwrap().is_empty(),
        "nothing is due twice"
    );
    later
        .answer::<Hour>("in time".into())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
}

#[tokio::test]
async fn interrupted_runs_are_resumed_and_busy_ones_are_not() {
    let store = InMemoryStore::new();
    let threads = launch().store(&store);
    let crashed = threads.thread("crashed");
    let mut events = crashed.run("50".to_string()).events();
    while events.next().await.unwrap().superstep < 20 {}
    drop(events);
    let busy = threads.thread("busy");
    let mut events = busy.run("hang".to_string()).events();
    while events.next().await.unwrap().node().is_none() {}
    finished(&threads, 3).await;
    let running = ThreadQuery {
        status: Some(ThreadStatus::Running),
        ..ALL
    };
    let resumed = threads.resume_all(running).await.unwrap();
    assert_eq!(resumed.len(), 1);
    let (id, result) = resumed.into_iter().next().unwrap();
    assert_eq!(
        (id.as_str(), result.unwrap().into_finished().unwrap().count),
        ("crashed", 50)
    );
}

#[tokio::test]
async fn a_store_behind_an_arc_is_a_store() {
    // Chosen when the program runs: this needs a trait whose methods can be called through a pointer.
    let store: Arc<dyn Store> = Arc::new(InMemoryStore::new());
    let threads = launch().store(&store);
    finished(&threads, 1).await;
    let other = launch().store(&Arc::clone(&store));
    assert_eq!(
        other
            .thread("thread-0000")
            .snapshot()
            .await
            .unwrap()
            .unwrap()
            .state
            .count,
        1
    );
    assert!(!store.needs_checksums() && store.claim_lasts().is_none());
    let nested: Arc<Arc<dyn Store>> = Arc::new(store);
    assert_eq!(nested.threads(ALL).await.unwrap().len(), 1);
    assert_eq!(other.delete_all(ALL).await.unwrap(), 1);
}

#[tokio::test]
async fn a_thread_of_another_flow_is_not_changed() {
    let store = InMemoryStore::new();
    let _ = thread(&store, "mine")
        .run("ask now".to_string())
        .await
        .unwrap();
    tokio::time::sleep(SOON).await;
    let other = Rounds::new().store(&store);
    assert!(other.sweep().await.unwrap().is_empty());
    assert_eq!(
        thread(&store, "mine").info().await.unwrap().unwrap().status,
        ThreadStatus::Waiting
    );
}
