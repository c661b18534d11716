//! The tasks of a superstep that finished before it was stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt as _;
use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::{Event, EventKind};
use petalflow::interrupt::Decision;
use petalflow::prelude::*;

#[state]
#[derive(Clone, Debug)]
struct Batch {
    #[key(append)]
    done: Vec<u32>,
}

#[node(Batch)]
async fn list() -> Each<u32> {
    (0..50).collect()
}

/// Fails for the last item until it is repaired.
#[node(Batch)]
async fn work(#[item] item: &u32, repaired: Managed<AtomicBool>) -> Result<BatchDone, BoxError> {
    if *item == 49 && !repaired.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
        return Err("broken".into());
    }
    Ok(BatchDone(vec![*item]))
}

flow!(Process(Batch) { list -> each work });

#[node(Batch)]
async fn first() -> BatchDone {
    BatchDone(vec![1])
}

#[node(Batch)]
async fn second() -> BatchDone {
    BatchDone(vec![2])
}

flow!(Gated(Batch) { START -> first & second; interrupt before second; });

fn count(events: &[Event<Batch>], name: &str) -> usize {
    events
        .iter()
        .filter(|event| event.kind.name() == name)
        .count()
}

#[tokio::test]
async fn the_events_of_a_resumed_superstep_add_up() {
    let store = InMemoryStore::new();
    let repaired = std::sync::Arc::new(AtomicBool::new(false));
    let threads = Process::new().manage_with(repaired.clone()).store(&store);
    let thread = threads.thread("batch");
    thread.run(()).await.unwrap_err();

    // What the siblings of the failed task have finished.
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let pending: Vec<_> = snapshot.pending().collect();
    assert_eq!(pending.len(), 49);
    let (task, writes) = pending[7];
    assert_eq!(
        (task.node.as_str(), task.index, task.finished),
        ("work", Some(7), true)
    );
    assert_eq!(writes.of::<BatchDone>().only().unwrap(), &[7]);
    assert!(snapshot.state.done.is_empty());

    repaired.store(true, Ordering::SeqCst);
    let events: Vec<_> = thread.resume(()).events().collect().await;
    let started: usize = events
        .iter()
        .map(|event| match &event.kind {
            EventKind::SuperstepStarted { nodes } => nodes.len(),
            _ => 0,
        })
        .sum();
    let (restored, finished) = (
        count(&events, "node_restored"),
        count(&events, "node_finished"),
    );
    assert_eq!((started, restored, finished), (50, 49, 1));
    assert_eq!(count(&events, "node_started"), 1);
    let tasks = events.iter().filter(|event| event.task.is_some());
    let indices: std::collections::BTreeSet<_> = tasks
        .map(|event| event.task.as_ref().unwrap().index)
        .collect();
    assert_eq!(indices.len(), 50);
    let writes: usize = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::NodeRestored { update } | EventKind::NodeFinished { update, .. } => {
                Some(update.of::<BatchDone>().only().unwrap().len())
            }
            _ => None,
        })
        .sum();
    assert_eq!(writes, 50);
}

#[tokio::test]
async fn the_filters_show_restored_tasks() {
    for tasks in [true, false] {
        let repaired = std::sync::Arc::new(AtomicBool::new(false));
        let threads = Process::new().manage_with(repaired.clone());
        let thread = threads.store(&InMemoryStore::new()).thread("batch");
        thread.run(()).await.unwrap_err();
        repaired.store(true, Ordering::SeqCst);
        let events = thread.resume(()).events();
        let events = if tasks {
            events.tasks()
        } else {
            events.updates()
        };
        let events: Vec<_> = events.collect().await;
        assert_eq!(count(&events, "node_restored"), 49);
    }
}

#[tokio::test]
async fn a_skipped_task_is_reported() {
    let thread = Gated::new().store(&InMemoryStore::new()).thread("gated");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let events: Vec<_> = thread.resume(Decision::skip()).events().collect().await;
    let names = [
        "node_restored",
        "node_skipped",
        "node_started",
        "node_finished",
    ];
    assert_eq!(names.map(|name| count(&events, name)), [1, 1, 0, 0]);
}
