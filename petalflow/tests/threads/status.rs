//! The status of threads, their labels and their times.

use petalflow::checkpoint::{InMemoryStore, ThreadQuery, ThreadStatus};
use petalflow::run::CancelToken;
use petalflow::thread::{Edit, HistoryQuery};

use super::{DoWork, Hour, WorkCount, WorkTask, ids, info, launch, thread};

#[tokio::test]
async fn each_end_of_a_run_is_a_status() {
    let store = InMemoryStore::new();
    let finished = thread(&store, "finished");
    finished
        .run("once".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let failed = thread(&store, "failed");
    failed.run("fail".to_string()).await.unwrap_err();
    let waiting = thread(&store, "waiting");
    let paused = waiting.run("ask".to_string()).await.unwrap();
    let token = CancelToken::new();
    let cancelled = launch()
        .cancel_with(&token)
        .store(&store)
        .thread("cancelled");
    let (result, ()) = tokio::join!(cancelled.run("hang".to_string()), async { token.cancel() });
    result.unwrap_err();
    let token = CancelToken::new();
    let stopped = launch().cancel_with(&token).store(&store).thread("stopped");
    let shutdown = async {
        token.drain();
        token.cancel();
    };
    let (result, ()) = tokio::join!(stopped.run("hang".to_string()), shutdown);
    result.unwrap_err();
    let running = thread(&store, "running");
    let mut events = running.run("hang".to_string()).events();
    while events.next().await.unwrap().node().is_none() {}

    for (thread, status) in [
        (&finished, ThreadStatus::Finished),
        (&failed, ThreadStatus::Failed),
        (&waiting, ThreadStatus::Waiting),
        (&cancelled, ThreadStatus::Held),
        (&stopped, ThreadStatus::Stopped),
        (&running, ThreadStatus::Running),
    ] {
        let info = info(thread).await;
        assert_eq!((info.status, info.id.as_str()), (status, thread.id()));
        let threads = launch().store(&store);
        let query = ThreadQuery {
            status: Some(status),
            ..ThreadQuery::default()
        };
        assert_eq!(ids(&threads, query).await, [thread.id()]);
    }
    assert_eq!(
        info(&waiting).await.due_ms,
        paused.interrupts()[0].expires_ms
    );
    assert_eq!(info(&waiting).await.flow, "DoWork");
    drop(events);
    assert_eq!(
        info(&running).await.status,
        ThreadStatus::Running,
        "a run that was dropped looks like one whose process has ended"
    );
}

#[tokio::test]
async fn the_status_follows_the_thread() {
    let store = InMemoryStore::new();
    let thread = thread(&store, "t");
    let status = async || info(&thread).await.status;
    let _ = thread.run("ask".to_string()).await.unwrap();
    assert_eq!(status().await, ThreadStatus::Waiting);
    thread.run("once".to_string()).await.unwrap_err();
    assert_eq!(
        status().await,
        ThreadStatus::Waiting,
        "an input that is refused changes nothing"
    );
    thread.update(Edit::new(WorkCount(1))).await.unwrap();
    assert_eq!(
        status().await,
        ThreadStatus::Waiting,
        "the question is still open"
    );
    let _ = thread.resume(()).await.unwrap();
    assert_eq!(status().await, ThreadStatus::Waiting);
    thread
        .answer::<Hour>("yes".into())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(status().await, ThreadStatus::Finished);
    assert_eq!(info(&thread).await.due_ms, None);
    thread.run("fail".to_string()).await.unwrap_err();
    assert_eq!(status().await, ThreadStatus::Failed);
    thread
        .update(Edit::new(WorkTask("once".into())))
        .await
        .unwrap();
    assert_eq!(
        status().await,
        ThreadStatus::Held,
        "an edit makes it ready to continue, when a person wants it to"
    );
    thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(status().await, ThreadStatus::Finished);
    let copy = thread.copy_to("copy").await.unwrap();
    assert_eq!(info(&copy).await.status, ThreadStatus::Finished);
    let first = thread
        .history(HistoryQuery::all())
        .await
        .unwrap()
        .pop()
        .unwrap();
    let fork = thread.fork_to(first.checkpoint, "fork").await.unwrap();
    assert_eq!(info(&fork).await.status, ThreadStatus::Held);
    thread.fork(first.checkpoint).await.unwrap();
    assert_eq!(status().await, ThreadStatus::Held);
}

#[tokio::test]
async fn labels_are_set_before_or_after_the_first_run() {
    let store = InMemoryStore::new();
    let threads = launch().store(&store);
    let early = threads.thread("early");
    early
        .set_labels([("user", "ann"), ("team", "red")])
        .await
        .unwrap();
    assert!(
        early.info().await.unwrap().is_none(),
        "a thread begins with its first run"
    );
    let late = threads.thread("late");
    for thread in [&early, &late] {
        thread
            .run("once".to_string())
            .await
            .unwrap()
            .into_finished()
            .unwrap();
    }
    late.set_labels([("user", "bob")]).await.unwrap();
    for (user, id) in [("ann", "early"), ("bob", "late")] {
        let query = ThreadQuery {
            label: Some(("user", user)),
            ..ThreadQuery::default()
        };
        assert_eq!(ids(&threads, query).await, [id]);
    }
    assert_eq!(info(&early).await.labels["team"], "red");
    let error = late.set_labels([("user", "b\0b")]).await.unwrap_err();
    assert!(error.to_string().contains("without NUL"), "{error}");
    assert_eq!(info(&late).await.labels["user"], "bob");
}

#[tokio::test]
async fn threads_whose_ids_begin_alike_are_different() {
    let store = InMemoryStore::new();
    thread(&store, "ann-2")
        .run("once".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert!(thread(&store, "ann").info().await.unwrap().is_none());
}

#[tokio::test]
async fn history_is_read_by_superstep_and_with_states() {
    let store = InMemoryStore::new();
    let thread = thread(&store, "t");
    for _ in 0..2 {
        thread
            .run("5".to_string())
            .await
            .unwrap()
            .into_finished()
            .unwrap();
    }
    let query = HistoryQuery::all().turn(1).superstep(3);
    let found = thread.history(query).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].turn, found[0].superstep), (1, 3));
    assert_eq!(
        thread
            .history(HistoryQuery::all().superstep(0))
            .await
            .unwrap()
            .len(),
        2
    );
    let with_state = thread.snapshots(query).await.unwrap();
    assert_eq!(with_state[0].state.count, 3);
    assert_eq!(with_state[0].info, found[0]);
    let counts = thread.snapshots(HistoryQuery::all().turn(1)).await.unwrap();
    let counts: Vec<u64> = counts.iter().map(|snapshot| snapshot.state.count).collect();
    assert_eq!(counts, [5, 4, 3, 2, 1, 0]);
    let fork = thread.fork_to(found[0].checkpoint, "fork").await.unwrap();
    let work = fork.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(work.count, 5, "it continues after the third superstep");
}

/// A handler needs its id again, so it lends it.
#[tokio::test]
async fn a_thread_takes_borrowed_and_owned_ids() {
    let threads = DoWork::new().store(&InMemoryStore::new());
    let id = String::from("ann");
    assert_eq!(threads.thread(&id).id(), id);
    assert_eq!(threads.thread(&*id).id(), id);
    assert_eq!(threads.thread(std::sync::Arc::<str>::from(&*id)).id(), id);
    assert_eq!(threads.thread(id).id(), "ann");
}
