//! The contents of checkpoints, when they are stored, and how they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::checkpoint::{Address, Cause, InMemoryStore, Store as _};
use petalflow::interrupt::Resume;
use petalflow::prelude::*;
use petalflow::thread::{Durability, Edit, HistoryQuery, ThreadError};
use petalflow_test_support::assert_contains;

use crate::support::{Log, appending, expect_finished, flow_and_graph, list, run_both};

appending! { a b c d e }

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Total {
    #[key(input, sum)]
    total: i64,
    #[key(default)]
    seen: i64,
}

#[node(Total)]
async fn fifty() -> TotalTotal {
    TotalTotal(50)
}

#[node(Total)]
async fn fails_once(total: &i64, tries: Managed<AtomicUsize>) -> petalflow::Result<TotalSeen> {
    if tries.fetch_add(1, Ordering::SeqCst) == 0 {
        return Err("not yet".into());
    }
    Ok(TotalSeen(*total))
}

flow_and_graph!(Half(Total) { START -> fifty & fails_once; } nodes: fifty, fails_once);

#[tokio::test]
async fn c95_g056_g058_results_of_a_failed_superstep_are_pending_until_a_resume_commits_them() {
    run_both!(Half, |launch| {
        let store = InMemoryStore::new();
        let tries = Arc::new(AtomicUsize::new(0));
        let thread = launch.manage_with(tries).store(&store).thread("t");
        thread.run(1).await.unwrap_err();
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        let tasks: Vec<_> = snapshot
            .tasks
            .iter()
            .map(|task| (&*task.node, task.finished))
            .collect();
        assert_eq!(
            (snapshot.state.total, &tasks[..]),
            (1, &[("fifty", true), ("fails_once", false)][..])
        );
        let pending = store.writes(Address::root("t"), 0..9).await.unwrap();
        let names: Vec<_> = pending
            .iter()
            .map(|(seq, write)| (*seq, &*write.name))
            .collect();
        assert!(
            names.contains(&(0, "done")) && names.contains(&(0, "error")),
            "{names:?}"
        );
        let total = expect_finished(thread.resume(())).await;
        assert_eq!(
            (total.total, total.seen),
            (51, 1),
            "the snapshot of both was the same"
        );
        let pending = store.writes(Address::root("t"), 0..9).await.unwrap();
        assert_eq!(pending, []);
        let last = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(
            (last.is_finished(), last.info.cause),
            (true, Cause::Superstep)
        );
        total
    });
}

flow_and_graph!(Five(Log) { a -> b -> c -> d -> e } nodes: a, b, c, d, e);

#[tokio::test]
async fn g057_an_interval_saves_every_so_many_supersteps_and_the_end() {
    run_both!(Five, |launch| {
        let threads = launch.store(&InMemoryStore::new());
        let thread = threads
            .durability(Durability::Interval(2.try_into().unwrap()))
            .thread("t");
        expect_finished(thread.run(list([]))).await;
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let supersteps: Vec<u64> = history.iter().map(|info| info.superstep).collect();
        assert_eq!(supersteps, [5, 4, 2, 0]);
        assert_eq!(
            thread
                .snapshot_at(history[2].checkpoint)
                .await
                .unwrap()
                .state
                .xs,
            ["a", "b"]
        );
        supersteps
    });
}

flow_and_graph!(Broken(Total) { fifty -> fails_once } nodes: fifty, fails_once);

#[tokio::test]
async fn g059_a_resume_continues_where_the_run_stopped() {
    // agentmesh begins at the entry again unless paused nodes are recorded.
    run_both!(Broken, |launch| {
        let thread = launch
            .manage(AtomicUsize::new(0))
            .store(&InMemoryStore::new())
            .thread("t");
        thread.run(0).await.unwrap_err();
        let total = expect_finished(thread.resume(())).await;
        assert_eq!(total.total, 50);
        total
    });
}

#[tokio::test]
async fn g060_updates_at_a_resume_go_through_the_reducers() {
    run_both!(Broken, |launch| {
        let thread = launch
            .manage(AtomicUsize::new(0))
            .store(&InMemoryStore::new())
            .thread("t");
        thread.run(0).await.unwrap_err();
        let update = Resume::new().update(TotalTotal(7)).update(TotalTotal(1));
        let total = expect_finished(thread.resume(update)).await;
        assert_eq!((total.total, total.seen), (58, 58));
        total
    });
}

#[tokio::test]
async fn g061_an_empty_input_does_not_overwrite_stored_keys() {
    run_both!(Five, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list(["x"]))).await;
        let log = expect_finished(thread.resume(())).await;
        assert_eq!(log.xs, ["x", "a", "b", "c", "d", "e"]);
        let log = expect_finished(thread.run(list([]))).await;
        assert_eq!(log.xs.len(), 11);
        log
    });
}

mod before {
    use petalflow::prelude::*;

    #[state]
    #[derive(Debug)]
    pub(super) struct Doc {
        #[key(input, append)]
        pub(super) xs: Vec<String>,
        #[key(default)]
        pub(super) extra: u32,
    }

    #[node(Doc)]
    async fn write() -> (DocXs, DocExtra) {
        (DocXs(vec!["before".into()]), DocExtra(7))
    }

    flow!(pub(super) Program(Doc) { write });
}

mod after {
    use petalflow::prelude::*;

    #[state]
    #[derive(Debug)]
    pub(super) struct Doc {
        #[key(input, append)]
        pub(super) xs: Vec<String>,
    }

    #[node(Doc)]
    async fn write() -> DocXs {
        DocXs(vec!["after".into()])
    }

    flow!(pub(super) Program(Doc) { write });
}

#[tokio::test]
async fn g062_a_key_that_the_program_does_not_know_is_refused_with_its_name() {
    let store = InMemoryStore::new();
    let thread = before::Program::new().store(&store).thread("t");
    assert_eq!(expect_finished(thread.run(list([]))).await.extra, 7);
    let thread = after::Program::new().store(&store).thread("t");
    let error = thread.snapshot().await.unwrap_err();
    assert!(matches!(error, ThreadError::Changed { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("`extra`") && text.contains("- key extra: u32"),
        "{text}"
    );
    let error = thread.run(list([])).await.unwrap_err();
    assert_contains(&error, "`extra`");
    // The other way round an added key has its default.
    let thread = after::Program::new().store(&store).thread("new");
    assert_eq!(expect_finished(thread.run(list([]))).await.xs, ["after"]);
    let thread = before::Program::new().store(&store).thread("new");
    assert_eq!(thread.snapshot().await.unwrap().unwrap().state.extra, 0);
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Short {
    #[key(append)]
    log: Vec<String>,
    #[key(ephemeral)]
    hint: Option<String>,
}

#[node(Short)]
async fn hints() -> ShortHint {
    ShortHint(Some("psst".into()))
}

#[node(Short)]
async fn listens(hint: Option<&str>, tries: Managed<AtomicUsize>) -> petalflow::Result<ShortLog> {
    if tries.fetch_add(1, Ordering::SeqCst) < 2 {
        return Err("not yet".into());
    }
    Ok(ShortLog(vec![format!("{hint:?}")]))
}

flow_and_graph!(Hints(Short) { hints -> listens } nodes: hints, listens);

#[tokio::test]
async fn an_ephemeral_key_survives_edits_and_resumes_before_its_superstep() {
    run_both!(Hints, |launch| {
        let thread = launch
            .manage(AtomicUsize::new(0))
            .store(&InMemoryStore::new())
            .thread("t");
        thread.run(()).await.unwrap_err();
        thread
            .update(Edit::new(ShortLog(list(["edited"]))))
            .await
            .unwrap();
        assert_eq!(
            thread
                .snapshot()
                .await
                .unwrap()
                .unwrap()
                .state
                .hint
                .as_deref(),
            Some("psst")
        );
        thread
            .resume(Resume::new().update(ShortLog(list(["updated"]))))
            .await
            .unwrap_err();
        let short = expect_finished(thread.resume(())).await;
        assert_eq!(short.log, ["edited", "updated", "Some(\"psst\")"]);
        assert_eq!(short.hint, None);
        assert_eq!(thread.snapshot().await.unwrap().unwrap().state, short);
        short
    });
}

#[tokio::test]
async fn a_checkpoint_missing_in_the_middle_is_detected() {
    let (store, robbed) = (InMemoryStore::new(), InMemoryStore::new());
    Five::new()
        .store(&store)
        .thread("t")
        .run(list(["i"]))
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let root = Address::root("t");
    let mut checkpoints = store.history(root, None, 9).await.unwrap();
    checkpoints.reverse();
    checkpoints.remove(2);
    let mut after = None;
    for checkpoint in checkpoints {
        let seq = checkpoint.seq;
        robbed
            .append(root, &checkpoint, after, 0..0, None)
            .await
            .unwrap();
        after = Some(seq);
    }
    let thread = Five::new().store(&robbed).thread("t");
    assert_eq!(thread.snapshot_at(1).await.unwrap().state.xs, ["i", "a"]);
    let error = thread.resume(()).await.unwrap_err();
    assert_contains(
        &error,
        "checkpoint 5 builds on the checkpoints since 0, and one of them is missing",
    );
}
