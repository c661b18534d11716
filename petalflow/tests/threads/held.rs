//! Threads that a person holds: what leaves them alone, and what releases them.

use petalflow::checkpoint::{InMemoryStore, ThreadQuery, ThreadStatus};
use petalflow::run::CancelToken;
use petalflow::thread::{Edit, HistoryQuery, Thread, ThreadError};

use super::{DoWork, WorkTask, info, launch, thread};

/// A thread that a person has cancelled, one that was edited, one that was forked, and a copy of one that did not finish.
async fn held(store: &InMemoryStore) -> Vec<Thread<DoWork>> {
    let token = CancelToken::new();
    let cancelled = launch()
        .cancel_with(&token)
        .store(store)
        .thread("cancelled");
    let (result, ()) = tokio::join!(cancelled.run("hang".to_string()), async { token.cancel() });
    result.unwrap_err();
    let edited = thread(store, "edited");
    edited.run("fail".to_string()).await.unwrap_err();
    let edit = Edit::new(WorkTask("once".into()));
    edited.update(edit).await.unwrap();
    let forked = thread(store, "forked");
    forked
        .run("once".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let first = forked
        .history(HistoryQuery::all())
        .await
        .unwrap()
        .pop()
        .unwrap();
    forked.fork(first.checkpoint).await.unwrap();
    let failed = thread(store, "failed");
    failed.run("fail".to_string()).await.unwrap_err();
    let copied = failed.copy_to("copied").await.unwrap();
    failed.delete().await.unwrap();
    let cancelled = thread(store, "cancelled");
    vec![cancelled, edited, forked, copied]
}

#[tokio::test]
async fn a_thread_that_a_person_holds_is_left_alone() {
    let store = InMemoryStore::new();
    let held = held(&store).await;
    let threads = launch().store(&store);
    for status in [
        None,
        Some(ThreadStatus::Running),
        Some(ThreadStatus::Stopped),
    ] {
        let query = ThreadQuery {
            status,
            ..ThreadQuery::default()
        };
        let resumed = threads.resume_all(query).await.unwrap();
        assert!(resumed.is_empty(), "{status:?} {resumed:?}");
    }
    assert!(threads.sweep().await.unwrap().is_empty());
    for thread in &held {
        assert_eq!(
            info(thread).await.status,
            ThreadStatus::Held,
            "{}",
            thread.id()
        );
        let before = thread.history(HistoryQuery::all()).await.unwrap();
        let error = thread.recover().await.unwrap_err();
        assert!(
            matches!(error.thread_error(), Some(ThreadError::Held { .. })),
            "{error}"
        );
        assert_eq!(thread.history(HistoryQuery::all()).await.unwrap(), before);
    }
}

/// After a resume, a crash leaves a thread that is interrupted and no longer held.
#[tokio::test]
async fn a_resume_releases_a_thread_before_its_first_node_runs() {
    let store = InMemoryStore::new();
    for thread in held(&store).await {
        // As if the process died in the first superstep.
        let run = thread.resume(()).begin().await.unwrap();
        assert_eq!(
            info(&thread).await.status,
            ThreadStatus::Running,
            "{}",
            thread.id()
        );
        drop(run);
        assert_eq!(
            info(&thread).await.status,
            ThreadStatus::Running,
            "{}",
            thread.id()
        );
    }
}

#[tokio::test]
async fn a_query_for_held_threads_resumes_them() {
    let store = InMemoryStore::new();
    for thread in held(&store).await {
        if !["edited", "forked"].contains(&thread.id()) {
            thread.delete().await.unwrap();
        }
    }
    let threads = launch().store(&store);
    let query = ThreadQuery {
        status: Some(ThreadStatus::Held),
        ..ThreadQuery::default()
    };
    let mut resumed = threads.resume_all(query).await.unwrap();
    resumed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let ids: Vec<&str> = resumed.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, ["edited", "forked"]);
    for (_, result) in resumed {
        result.unwrap().into_finished().unwrap();
    }
}

#[tokio::test]
async fn a_new_turn_releases_a_thread() {
    let store = InMemoryStore::new();
    for thread in held(&store).await {
        thread
            .run("once".to_string())
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        assert_eq!(
            info(&thread).await.status,
            ThreadStatus::Finished,
            "{}",
            thread.id()
        );
    }
}

#[tokio::test]
async fn a_copy_and_a_fork_in_another_thread_have_the_labels() {
    let store = InMemoryStore::new();
    let thread = thread(&store, "a");
    thread.set_labels([("user", "ann")]).await.unwrap();
    let ran = thread.run("once".to_string()).await.unwrap();
    ran.into_finished().unwrap();
    let first = thread.history(HistoryQuery::all()).await.unwrap();
    let first = first.last().unwrap().checkpoint;
    let copied = thread.copy_to("copied").await.unwrap();
    let forked = thread.fork_to(first, "forked").await.unwrap();
    for thread in [copied, forked] {
        let info = thread.info().await.unwrap().unwrap();
        assert_eq!(info.labels["user"], "ann");
    }
    let unlabelled = super::thread(&store, "b");
    let ran = unlabelled.run("once".to_string()).await.unwrap();
    ran.into_finished().unwrap();
    let copied = unlabelled.copy_to("c").await.unwrap();
    assert!(copied.info().await.unwrap().unwrap().labels.is_empty());
}
