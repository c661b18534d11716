//! Checkpoints are removed while a run is in progress.

use std::num::NonZeroU64;

use petalflow::checkpoint::{Address, InMemoryStore, Store, ThreadQuery};
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::thread::{Durability, HistoryQuery, Retention, Thread, ThreadRun};

use super::{DoWork, Work, WorkCount, info, launch, thread};

/// The most checkpoints that the oldest retained one builds on. They are needed to read it.
const CHAIN: u64 = 400;

/// The most checkpoints that a thread has while its run is in progress.
async fn most<F: Flow>(thread: &Thread<F>, run: ThreadRun<F>) -> u64 {
    let mut most = 0;
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if let EventKind::SuperstepFinished = event.kind {
            let info = thread.info().await.unwrap();
            most = most.max(info.map_or(0, |info| info.checkpoints));
        }
    }
    most
}

#[tokio::test]
async fn retention_holds_while_a_run_continues() {
    for durability in [
        Durability::Sync,
        Durability::Async,
        Durability::Interval(NonZeroU64::new(2).unwrap()),
    ] {
        for (retention, limit) in [
            (Retention::max_checkpoints(5), 5 + 65),
            (Retention::max_checkpoints(200), 200 + 201),
            (Retention::ALL.max_bytes(1), 1 + 65),
            (Retention::ALL.max_age(std::time::Duration::ZERO), 1 + 65),
        ] {
            let store = InMemoryStore::new();
            let threads = launch()
                .store(&store)
                .durability(durability)
                .retention(retention);
            let thread = threads.thread("t");
            let most = most(&thread, thread.run("3000".to_string())).await;
            assert!(
                most <= limit + CHAIN,
                "{durability:?} {retention:?}: {most}"
            );
            let snapshot = thread.snapshot().await.unwrap().unwrap();
            assert_eq!(
                (snapshot.state.count, snapshot.info.superstep),
                (3_000, 3_000)
            );
            assert!(snapshot.is_finished());
        }
    }
}

#[tokio::test]
async fn without_retention_all_checkpoints_remain() {
    let store = InMemoryStore::new();
    let thread = thread(&store, "t");
    thread
        .run("300".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(info(&thread).await.checkpoints, 301);
}

#[tokio::test]
async fn a_run_that_resumes_late_in_its_turn_is_pruned_soon() {
    let store = InMemoryStore::new();
    let all = thread(&store, "t");
    let mut events = all.run("3000".to_string()).events();
    while events.next().await.unwrap().superstep < 2_000 {}
    drop(events);
    assert!(info(&all).await.checkpoints > 1_900);
    let few = launch()
        .store(&store)
        .retention(Retention::max_checkpoints(5))
        .thread("t");
    let mut events = few.resume(()).events();
    while events.next().await.unwrap().superstep < 2_010 {}
    assert!(info(&few).await.checkpoints < 30 + CHAIN);
}

#[tokio::test]
async fn a_thread_is_pruned_from_outside_while_it_runs() {
    let store = InMemoryStore::new();
    let running = thread(&store, "t");
    let mut events = running.run("3000".to_string()).events();
    let mut pruned = false;
    while let Some(event) = events.next().await {
        if event.superstep == 2_000 && !pruned {
            let threads = launch().store(&store);
            let few = Retention::max_checkpoints(3);
            threads
                .prune_all(ThreadQuery::default(), few)
                .await
                .unwrap();
            assert!(info(&running).await.checkpoints < 10 + CHAIN);
            pruned = true;
        }
    }
    assert!(pruned);
    let snapshot = running.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.state.count, 3_000);
    let history = running.snapshots(HistoryQuery::all()).await.unwrap();
    let oldest = history.last().unwrap().info.superstep;
    assert!(oldest > 2_000 - 10 - CHAIN && oldest <= 1_998, "{oldest}");
}

#[tokio::test]
async fn retention_holds_at_a_pause_and_after_a_failure() {
    for task in ["ask", "fail"] {
        let store = InMemoryStore::new();
        let all = thread(&store, "t");
        let run = all.run("1000".to_string()).await.unwrap();
        run.into_finished().unwrap();
        assert_eq!(info(&all).await.checkpoints, 1_001);
        let few = Retention::max_checkpoints(1);
        let few = launch().store(&store).retention(few).thread("t");
        let _ = few.run(task.to_string()).await;
        assert!(info(&all).await.checkpoints < CHAIN, "{task}");
    }
}

#[state]
pub(super) struct Outer {
    #[key(sum)]
    rounds: u64,
}

#[node(Outer)]
async fn next(rounds: &u64) -> (OuterRounds, bool) {
    (OuterRounds(1), *rounds < 500)
}

flow!(pub(super) Rounds(Outer) {
    START -> inner -> next;
    node inner: DoWork { in: || "3".to_string(), out: |_work: Work| () };
    next -> match { true => inner, false => END };
});

#[tokio::test]
async fn the_checkpoints_of_sub_flows_are_removed_too() {
    let store = InMemoryStore::new();
    let threads = Rounds::new()
        .store(&store)
        .retention(Retention::max_checkpoints(5));
    let thread = threads.thread("t");
    let most = most(&thread, thread.run(())).await;
    assert!(
        most < 400 + CHAIN,
        "{most}: a round has six checkpoints, and there are 64 supersteps between two removals"
    );
}

#[tokio::test]
async fn the_time_of_creation_remains() {
    let store = InMemoryStore::new();
    let threads = launch()
        .store(&store)
        .retention(Retention::max_checkpoints(1));
    let thread = threads.thread("t");
    let before = thread
        .run("1000".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap()
        .count;
    let created = info(&thread).await.created_ms;
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    thread
        .update(petalflow::thread::Edit::new(WorkCount(before)))
        .await
        .unwrap();
    thread.prune(Retention::max_checkpoints(1)).await.unwrap();
    let after = info(&thread).await;
    assert_eq!(after.created_ms, created);
    assert!(after.checkpoints < CHAIN);
    assert!(after.updated_ms > created);
}

#[state]
#[derive(Debug, PartialEq)]
struct Log {
    #[key(input)]
    until: u64,
    #[key(append)]
    lines: Vec<String>,
}

/// Each of its checkpoints only appends to a list, so none is worth a base.
#[node(Log)]
async fn log(until: &u64, lines: &[String]) -> (LogLines, bool) {
    let line = format!("line {} of a list that only grows", lines.len());
    (LogLines(vec![line]), (lines.len() as u64) + 1 < *until)
}

flow!(Grow(Log) { log -> match { true => log, false => END } });

/// How many checkpoints a thread has, and how many are read for its newest state.
async fn counts(thread: &Thread<Grow>, store: &InMemoryStore) -> (usize, usize) {
    let all = store.history(Address::root("t"), None, usize::MAX).await;
    let newest = store.read(Address::root("t"), None).await;
    let chain = newest.unwrap().unwrap().chain.len();
    let history = thread.history(HistoryQuery::all()).await.unwrap();
    assert_eq!(history.len(), all.unwrap().len());
    (history.len(), chain)
}

#[tokio::test]
async fn a_thread_that_only_appends_is_pruned_to_few_checkpoints() {
    let store = InMemoryStore::new();
    let thread = Grow::new().limit(10_000).store(&store).thread("t");
    let state = thread.run(600_u64).await.unwrap().into_finished().unwrap();
    assert_eq!(counts(&thread, &store).await, (601, 601));
    let before = thread.info().await.unwrap().unwrap();

    thread.prune(Retention::max_checkpoints(10)).await.unwrap();
    let (checkpoints, chain) = counts(&thread, &store).await;
    assert!(checkpoints <= 10 && chain <= 10, "{checkpoints}, {chain}");
    let after = thread.info().await.unwrap().unwrap();
    assert_eq!(
        (after.status, &after.flow, after.created_ms),
        (before.status, &before.flow, before.created_ms)
    );
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert!(snapshot.is_finished() && snapshot.state == state);

    let copy = thread.copy_to("copy").await.unwrap();
    assert_eq!(copy.snapshot().await.unwrap().unwrap().state, state);
    let state = thread.run(610_u64).await.unwrap().into_finished().unwrap();
    assert_eq!(state.lines.len(), 610);
    assert_eq!(state.lines[609], "line 609 of a list that only grows");
    assert!(counts(&thread, &store).await.0 < 30);
}

#[tokio::test]
async fn a_thread_that_waits_goes_on_after_its_history_was_replaced_by_a_base() {
    let store = InMemoryStore::new();
    let thread = Grow::new().limit(300).store(&store).thread("t");
    // It stops at the limit of supersteps, so that tasks are left.
    thread.run(600_u64).await.unwrap_err();
    thread.prune(Retention::max_checkpoints(1)).await.unwrap();
    assert_eq!(counts(&thread, &store).await, (1, 1));
    let more = Grow::new().limit(1_000).store(&store).thread("t");
    let state = more.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(state.lines.len(), 600);
}

#[tokio::test]
async fn a_run_that_only_appends_has_a_bounded_history() {
    for durability in [Durability::Sync, Durability::Async] {
        let store = InMemoryStore::new();
        let threads = Grow::new().limit(10_000).store(&store);
        let threads = threads.durability(durability);
        let threads = threads.retention(Retention::max_checkpoints(10));
        let thread = threads.thread("t");
        let most = most(&thread, thread.run(1_000_u64)).await;
        assert!(most <= 3 * 64 + 10, "{durability:?}: {most}");
        let (checkpoints, chain) = counts(&thread, &store).await;
        assert!(
            checkpoints <= 2 * 64 + 10 && chain <= 2 * 64,
            "{checkpoints}, {chain}"
        );
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.lines.len(), 1_000);
    }
}

#[tokio::test]
async fn a_prune_leaves_a_run_in_progress_undisturbed() {
    let store = InMemoryStore::new();
    let thread = Grow::new().limit(10_000).store(&store).thread("t");
    let mut events = thread.run(600_u64).events();
    while events.next().await.unwrap().superstep < 400 {}
    thread.prune(Retention::max_checkpoints(10)).await.unwrap();
    while events.next().await.is_some() {}
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.state.lines.len(), 600);
    assert!(snapshot.is_finished());
}
