//! Keys that are not stored, in runs that are resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Decision, Resume};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

/// A type that serde does not know.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scratch(u32);

#[state]
#[derive(Clone, Debug)]
struct Work {
    #[key(untracked)]
    scratch: Scratch,
    #[key(untracked, append)]
    notes: Vec<Scratch>,
    #[key(append)]
    log: Vec<String>,
}

#[derive(Default)]
struct Runs {
    scribble: AtomicU32,
    fail: AtomicU32,
}

#[node(Work)]
async fn scribble(runs: Managed<Runs>) -> (WorkScratch, WorkNotes) {
    runs.scribble.fetch_add(1, Ordering::SeqCst);
    (WorkScratch(Scratch(7)), WorkNotes(vec![Scratch(1)]))
}

#[node(Work)]
async fn scribble_again() -> WorkScratch {
    WorkScratch(Scratch(7))
}

#[node(Work)]
async fn scribble_first(runs: Managed<Runs>) -> Option<WorkScratch> {
    let first = runs.scribble.fetch_add(1, Ordering::SeqCst) == 0;
    first.then_some(WorkScratch(Scratch(7)))
}

#[node(Work)]
async fn read(scratch: &Scratch) -> WorkLog {
    WorkLog(vec![format!("{scratch:?}")])
}

#[node(Work)]
async fn read_notes(notes: &[Scratch]) -> WorkLog {
    WorkLog(vec![format!("{} notes", notes.len())])
}

#[node(Work)]
async fn read_all(work: &Work) -> WorkLog {
    WorkLog(vec![format!("{:?}", work.scratch)])
}

#[node(Work)]
async fn idle() {}

#[node(Work)]
async fn fail_once(runs: Managed<Runs>) -> Result<(), BoxError> {
    if runs.fail.fetch_add(1, Ordering::SeqCst) == 0 {
        return Err("once".into());
    }
    Ok(())
}

flow!(Pause(Work) { scribble -> read; interrupt before read; });
flow!(Later(Work) { scribble -> idle -> read; interrupt before idle; });
flow!(Whole(Work) { scribble -> idle -> read_all; interrupt before idle; });
flow!(Unwritten(Work) { idle -> read_all; interrupt before idle; });
flow!(Turns(Work) { scribble_first -> idle -> read_all; interrupt before idle; });
flow!(Notes(Work) { scribble -> read_notes; interrupt before read_notes; });
flow!(Again(Work) { scribble -> idle -> scribble_again -> read; interrupt before idle; });
flow!(Guarded(Work) {
    scribble -> idle -> read;
    interrupt before idle;
    interrupt before read if |scratch: &Scratch| scratch.0 > 3;
});
flow!(Siblings(Work) { START -> scribble & fail_once; (scribble & fail_once) -> read; });

fn runs() -> Arc<Runs> {
    Arc::default()
}

/// The text of the error of a node.
fn node_error(error: &petalflow::RunError, node: &str) -> String {
    match error.kind() {
        RunErrorKind::Node(error) => assert_eq!(error.node, node),
        other => panic!("{other:?}"),
    }
    error.to_string()
}

#[tokio::test]
async fn a_lost_value_is_an_error_and_not_the_default() {
    let store = InMemoryStore::new();
    let threads = Pause::new().manage_with(runs()).store(&store);
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    let text = node_error(&error, "read");
    assert!(
        text.starts_with(
            "node `read` failed in superstep 2: it reads the key `scratch`, which is `untracked`"
        ),
        "{text}"
    );
    // Every resume fails with this error, and both ways to continue work.
    thread.resume(()).await.unwrap_err();
    let update = Resume::new().update(WorkScratch(Scratch(8)));
    let work = thread
        .resume(update)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(work.log, ["Scratch(8)"]);

    let thread = threads.thread("other");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    thread.resume(Decision::approve()).await.unwrap_err();
    let paused = thread.resume(Resume::new().goto("scribble")).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
}

#[tokio::test]
async fn a_value_that_is_lost_for_a_later_node_is_an_error_at_that_node() {
    let threads = Later::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    let text = node_error(&error, "read");
    assert!(text.contains("in superstep 3"), "{text}");
}

#[tokio::test]
async fn a_value_that_is_written_again_can_be_read() {
    let threads = Again::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let work = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(work.into_finished().unwrap().log, ["Scratch(7)"]);
    // A new turn writes what it reads.
    let paused = thread.run(()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
}

#[tokio::test]
async fn a_key_with_a_default_returns_to_it() {
    let threads = Notes::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let work = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(work.into_finished().unwrap().log, ["0 notes"]);
}

#[tokio::test]
async fn a_guard_does_not_read_a_lost_value() {
    let threads = Guarded::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    let text = node_error(&error, "read");
    assert!(
        text.contains("the guard of `interrupt before read` failed: it reads the key `scratch`"),
        "{text}"
    );
}

#[tokio::test]
async fn a_task_that_wrote_what_is_not_stored_runs_again() {
    let runs = runs();
    let threads = Siblings::new()
        .manage_with(runs.clone())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap_err();
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert!(snapshot.tasks.iter().all(|task| !task.finished));
    let work = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(
        (work.log.as_slice(), work.scratch),
        (&["Scratch(7)".to_string()][..], Scratch(7))
    );
    assert_eq!(runs.scribble.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_node_that_takes_the_whole_state_does_not_read_a_lost_value() {
    let threads = Whole::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let newest = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    let text = node_error(&error, "read_all");
    assert!(
        text.contains("it takes the whole state, with the key `scratch`, which is `untracked`"),
        "{text}"
    );
    // The loss is known after each resume, and to a fork.
    let error = thread.resume(()).await.unwrap_err();
    node_error(&error, "read_all");
    let other = thread.fork_to(newest, "other").await.unwrap();
    other.resume(()).await.unwrap().into_finished().unwrap_err();
    let error = other.resume(Decision::approve()).await.unwrap_err();
    node_error(&error, "read_all");
    let update = Resume::new().update(WorkScratch(Scratch(8)));
    let work = thread.resume(update).await.unwrap();
    assert_eq!(work.into_finished().unwrap().log, ["Scratch(8)"]);
}

#[tokio::test]
async fn a_key_that_was_never_written_is_not_lost() {
    let threads = Unwritten::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let work = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(work.into_finished().unwrap().log, ["Scratch(0)"]);
}

/// What was lost before a turn began is not lost in this turn: it is as if it had never been written.
#[tokio::test]
async fn a_new_turn_begins_without_what_the_last_one_has_lost() {
    let threads = Turns::new()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let second = thread.run(()).discard_pending().await.unwrap();
    assert_eq!(second.interrupts().len(), 1);
    let work = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(work.into_finished().unwrap().log, ["Scratch(0)"]);
}

#[tokio::test]
async fn a_guard_of_the_builder_does_not_read_a_lost_value() {
    let graph = Graph::<Work>::builder("guarded")
        .node(scribble {})
        .node(idle {})
        .node(read_notes {})
        .edge(START, "scribble")
        .edge("scribble", "idle")
        .edge("idle", "read_notes")
        .interrupt_before("idle")
        .interrupt_before_if("read_notes", |work: &Work| work.scratch.0 > 3)
        .build()
        .unwrap();
    let threads = graph
        .launch()
        .manage_with(runs())
        .store(&InMemoryStore::new());
    let thread = threads.thread("work");
    thread.run(()).await.unwrap().into_finished().unwrap_err();
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    let text = node_error(&error, "read_notes");
    assert!(
        text.contains("the guard of `interrupt before read_notes` failed: it takes the whole state, with the key `scratch`"),
        "{text}"
    );
}
