//! The event log of a run that was killed just behind a checkpoint.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::thread::{Durability, Thread};

#[state]
struct Essay {
    #[key(append)]
    notes: Vec<usize>,
}

/// The number of the node that does not end. 0: all of them end.
static STUCK: AtomicUsize = AtomicUsize::new(0);

async fn note(number: usize) -> EssayNotes {
    if STUCK.load(Ordering::SeqCst) == number {
        std::future::pending::<()>().await;
    }
    EssayNotes(vec![number])
}

#[node(Essay)]
async fn first() -> EssayNotes {
    note(1).await
}

#[node(Essay)]
async fn second() -> EssayNotes {
    note(2).await
}

#[node(Essay)]
async fn third() -> EssayNotes {
    note(3).await
}

flow!(Write(Essay) { first -> second -> third });

fn thread(durability: Durability) -> Thread<Write> {
    let threads = Write::new().store(&InMemoryStore::new());
    threads.durability(durability).event_log(1_000).thread("t")
}

/// The events about checkpoints and supersteps, each with its kind.
async fn barriers(thread: &Thread<Write>) -> Vec<(String, String)> {
    let events = thread.events_since(0).await.expect("they can be read");
    let kinds = ["checkpoint", "superstep_finished"];
    let events = events.into_iter().filter(|it| kinds.contains(&&*it.kind));
    events
        .map(|event| (event.kind, event.value.to_string()))
        .collect()
}

/// Runs a turn, and drops it in the node with this number.
async fn killed_in(thread: &Thread<Write>, node: usize) {
    STUCK.store(node, Ordering::SeqCst);
    let run = thread.run(());
    let killed = tokio::time::timeout(Duration::from_secs(1), run).await;
    assert!(killed.is_err(), "node {node} does not end");
    STUCK.store(0, Ordering::SeqCst);
}

/// Row by row: the node in which the run was killed, and whether a resume or a new turn follows.
#[tokio::test(start_paused = true)]
async fn f42_a_log_lacks_no_checkpoint_after_a_kill_just_behind_it() {
    for durability in [Durability::Sync, Durability::Async] {
        let whole = thread(durability);
        let _ = whole.run(()).await.expect("it ends");
        let expected = barriers(&whole).await;
        assert_eq!(expected.len(), 7, "{expected:?}");
        for node in [1, 2, 3] {
            let killed = thread(durability);
            killed_in(&killed, node).await;
            let _ = killed.resume(()).await.expect("it ends");
            assert_eq!(barriers(&killed).await, expected, "killed in node {node}");
            let _ = killed.resume(()).await.expect("it has ended");
            assert_eq!(barriers(&killed).await, expected, "resumed again");

            let killed = thread(durability);
            killed_in(&killed, node).await;
            let _ = killed.run(()).await.expect("it ends");
            let found = barriers(&killed).await;
            let stored = 2 * node - 1;
            assert_eq!(
                found[..stored],
                expected[..stored],
                "a new turn after node {node}"
            );
            assert_eq!(found.len(), stored + 7, "{found:?}");
        }
    }
}
