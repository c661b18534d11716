//! The state of stored subflows after a fork and in a copy of a thread.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{Durability, HistoryQuery, Retention, Thread};
use serde::{Deserialize, Serialize};

use crate::support::{Log, LogXs, expect_finished, flow_and_graph, run_both};

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Count {
    #[key(sum)]
    n: u32,
    #[key(append)]
    all: Vec<u32>,
}

#[node(Count)]
async fn one(n: &u32) -> (CountN, CountAll) {
    (CountN(1), CountAll(vec![*n + 1]))
}

flow!(CountOne(Count) { one });

fn to_log(count: Count) -> (LogXs, bool) {
    let all: Vec<_> = count.all.iter().map(ToString::to_string).collect();
    (LogXs(vec![all.join(" ")]), count.n < 3)
}

flow_and_graph! {
    ToThree(Log) {
        node count: CountOne { in: || (), out: |count: Count| -> (LogXs, bool) { to_log(count) }, keep: thread };
        count -> match { true => count, false => END };
    }
    nodes: count = |b| b.subflow("count", CountOne, |_: &Log| ().into(), to_log).keep_thread("count")
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Middle {
    #[key(default)]
    last: Vec<String>,
}

flow!(Within(Middle) {
    node count: CountOne { in: || (), out: |count: Count| MiddleLast(to_log(count).0.0), keep: thread };
    count
});

fn last_lines(middle: Middle) -> (LogXs, bool) {
    let again = middle.last[0].len() < 5;
    (LogXs(middle.last), again)
}

flow_and_graph! {
    Deep(Log) {
        node middle: Within { in: || (), out: |middle: Middle| -> (LogXs, bool) { last_lines(middle) }, keep: thread };
        middle -> match { true => middle, false => END };
    }
    nodes: middle = |b| b.subflow("middle", Within, |_: &Log| ().into(), last_lines).keep_thread("middle")
}

const ALL: [&str; 3] = ["1", "1 2", "1 2 3"];

/// The checkpoint of the thread's newest branch that has so many lines.
async fn checkpoint<F: Flow<State = Log>>(thread: &Thread<F>, lines: usize) -> u64 {
    for info in thread.history(HistoryQuery::all()).await.unwrap() {
        if thread
            .snapshot_at(info.checkpoint)
            .await
            .unwrap()
            .state
            .xs
            .len()
            == lines
        {
            return info.checkpoint;
        }
    }
    panic!("no checkpoint has {lines} lines");
}

async fn resume<F: Flow<State = Log>>(thread: &Thread<F>) -> Vec<String> {
    let outcome = thread.resume(()).await.unwrap();
    outcome.into_finished().unwrap().xs
}

async fn run<F: Flow<State = Log>>(thread: &Thread<F>) -> Vec<String> {
    let outcome = thread.run(Vec::new()).await.unwrap();
    outcome.into_finished().unwrap().xs
}

/// Goes back, forth, and to the very beginning.
async fn fork_at_each_checkpoint<F: Flow<State = Log>>(thread: &Thread<F>) {
    assert_eq!(run(thread).await, ALL);
    let ends: Vec<u64> = [
        checkpoint(thread, 0).await,
        checkpoint(thread, 1).await,
        checkpoint(thread, 2).await,
    ]
    .into();
    let last = checkpoint(thread, 3).await;
    for _ in 0..2 {
        for (lines, end) in ends.iter().enumerate() {
            thread.fork(*end).await.unwrap();
            assert_eq!(resume(thread).await, ALL, "from {lines} lines");
        }
        // To the end of the first branch, of which several since were not a part.
        thread.fork(last).await.unwrap();
        assert_eq!(resume(thread).await, ALL, "nothing is left to run");
    }
    assert_eq!(run(thread).await.last().unwrap(), "1 2 3 4");
    thread.fork(ends[0]).await.unwrap();
    thread.fork(ends[1]).await.unwrap();
    assert_eq!(resume(thread).await, ALL, "from a fork that did nothing");
}

#[tokio::test]
async fn a_fork_restores_the_state_of_a_stored_subflow() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        run_both!(ToThree, |launch| {
            let threads = launch.store(&InMemoryStore::new()).durability(durability);
            fork_at_each_checkpoint(&threads.thread("t")).await;
        });
        run_both!(Deep, |launch| {
            let threads = launch.store(&InMemoryStore::new()).durability(durability);
            fork_at_each_checkpoint(&threads.thread("t")).await;
        });
    }
}

#[tokio::test]
async fn a_copied_thread_begins_with_the_state_of_its_stored_subflow() {
    run_both!(Deep, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        run(&thread).await;
        for lines in 0..3 {
            let from = checkpoint(&thread, lines).await;
            let other = thread.fork_to(from, format!("from {lines}")).await.unwrap();
            assert_eq!(resume(&other).await, ALL);
            fork_copies(&other, lines).await;
        }
        let copy = thread.copy_to("copy").await.unwrap();
        fork_copies(&copy, 0).await;
        assert_eq!(
            run(&thread).await.last().unwrap(),
            "1 2 3 4",
            "it does not know of them"
        );
    });
}

/// What was copied can be forked like the original.
async fn fork_copies<F: Flow<State = Log>>(thread: &Thread<F>, least: usize) {
    for lines in least..3 {
        thread.fork(checkpoint(thread, lines).await).await.unwrap();
        assert_eq!(resume(thread).await, ALL);
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Large {
    #[key(sum)]
    n: u32,
    text: String,
}

/// The text shrinks so quickly that each turn begins with a complete checkpoint.
#[node(Large)]
async fn grow(n: &u32) -> (LargeN, LargeText) {
    (LargeN(1), LargeText("x".repeat(400_000 >> (3 * n))))
}

flow!(Grow(Large) { grow });

fn size_line(large: Large) -> (LogXs, bool) {
    (LogXs(vec![large.n.to_string()]), large.n < 3)
}

flow_and_graph! {
    GrowThrice(Log) {
        node large: Grow { in: || (), out: |large: Large| -> (LogXs, bool) { size_line(large) }, keep: thread };
        large -> match { true => large, false => END };
    }
    nodes: large = |b| b.subflow("large", Grow, |_: &Log| ().into(), size_line).keep_thread("large")
}

#[tokio::test]
async fn a_fork_from_a_removed_checkpoint_is_refused() {
    run_both!(GrowThrice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        assert_eq!(run(&thread).await, ["1", "2", "3"]);
        let second = checkpoint(&thread, 2).await;
        thread.prune(Retention::max_checkpoints(2)).await.unwrap();
        let before = thread.history(HistoryQuery::all()).await.unwrap();
        let error = thread.fork(second).await.unwrap_err().to_string();
        assert_eq!(
            error,
            "the state of the sub-flow `large` at checkpoint 2 of thread `t` is not stored any more: fork from a newer checkpoint, \
             and let `Retention` retain more checkpoints of threads that are forked"
        );
        let elsewhere = thread.fork_to(second, "other").await.unwrap_err();
        assert_eq!(elsewhere.to_string(), error);
        let after = thread.history(HistoryQuery::all()).await.unwrap();
        assert_eq!(before, after, "nothing has happened");
        thread.fork(3).await.unwrap();
        assert_eq!(run(&thread).await.last().unwrap(), "4");
    });
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Ask for Go {
    type Answer = u32;
    const NAME: &'static str = "go";
}

#[node(Count)]
async fn asks(cx: Context) -> petalflow::Result<CountAll> {
    Ok(CountAll(vec![cx.ask(Go).await?]))
}

flow!(CountAndAsk(Count) { one -> asks });

flow_and_graph! {
    Asking(Log) {
        node count: CountAndAsk { in: || (), out: |count: Count| to_log(count).0, keep: thread };
        count
    }
    nodes: count = |b| b.subflow("count", CountAndAsk, |_: &Log| ().into(), |count: Count| to_log(count).0).keep_thread("count")
}

#[tokio::test]
async fn a_pending_task_of_a_stored_subflow_runs_once_after_a_fork_and_in_a_copy() {
    run_both!(Asking, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        assert_eq!(thread.run(Vec::new()).await.unwrap().interrupts().len(), 1);
        expect_finished(thread.answer::<Go>(7)).await;
        assert_eq!(thread.run(Vec::new()).await.unwrap().interrupts().len(), 1);
        let copy = thread.copy_to("copy").await.unwrap();
        let newest = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
        thread.fork(newest).await.unwrap();
        for thread in [thread, copy] {
            assert_eq!(thread.resume(()).await.unwrap().interrupts().len(), 1);
            let log = expect_finished(thread.answer::<Go>(9)).await;
            assert_eq!(log.xs, ["1 7", "1 7 2 9"], "{}", thread.id());
        }
    });
}
