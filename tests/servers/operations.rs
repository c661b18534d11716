//! The process dies, or the store fails, at each call to the store of an operation on a thread: a fork, a copy, an edit, a
//! pruning, a sweep. A new process finds the thread as before the operation or as after it, with its sub-flows and its status.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{Address, Store, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::interrupt::{Ask, Expiry};
use petalflow::middleware::BoxFuture;
use petalflow::prelude::*;
use petalflow::thread::{Edit, HistoryQuery, Retention, Thread, ThreadError, ThreadRun};
use petalflow_testing::{Fault, FaultKind, FaultyStore};
use serde::{Deserialize, Serialize};

/// A list of texts.
#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(input, append)]
    xs: Vec<String>,
}

fn list<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(String::from).to_vec()
}

/// The state after a run that must finish.
async fn expect_finished<F: Flow<State = Log>>(run: ThreadRun<F>) -> Log {
    run.await.unwrap().into_finished().unwrap()
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Total {
    #[key(sum)]
    n: u32,
}

#[node(Total)]
async fn one() -> TotalN {
    TotalN(1)
}

flow!(AddOne(Total) { one });

flow! {
    /// Each turn appends how many turns its sub-flow has had.
    Turns(Log) {
        node total: AddOne { in: || (), out: |total: Total| LogXs(vec![total.n.to_string()]), keep: thread };
        total -> last;
    }
}

#[node(Log)]
async fn last() {}

/// A new, empty store. `None` if its server is not installed, which was reported.
pub type Open = fn() -> BoxFuture<'static, Option<Opened>>;

/// A store, and what must live as long as it, such as its folder.
pub struct Opened {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Dropped after the store.
    pub guard: Box<dyn Any + Send>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

/// All that is stored, except for times and the bytes of a base, which are counted in `info`.
#[derive(Debug, PartialEq)]
struct Contents(Vec<(ThreadInfo, Vec<(String, u64, u64, Vec<u8>)>)>);

async fn contents(store: &dyn Store) -> Contents {
    let mut contents = Vec::new();
    for mut info in store.threads(ThreadQuery::default()).await.unwrap() {
        (info.created_ms, info.updated_ms) = (0, 0);
        let mut checkpoints = Vec::new();
        for namespace in store.namespaces(&info.id).await.unwrap() {
            let address = Address {
                thread: &info.id,
                namespace: &namespace,
            };
            for stored in store.history(address, None, usize::MAX).await.unwrap() {
                let mut bytes = stored.bytes;
                if store.needs_checksums() {
                    // The checksum covers the time.
                    bytes.truncate(bytes.len() - 8);
                }
                checkpoints.push((namespace.clone(), stored.seq, stored.base, bytes));
            }
        }
        contents.push((info, checkpoints));
    }
    Contents(contents)
}

/// A thread with three turns.
async fn three_turns(store: &Arc<dyn Store>) -> Thread<Turns> {
    let thread = Turns::new().store(store).thread("t");
    for _ in 0..3 {
        expect_finished(thread.run(list([]))).await;
    }
    thread
}

/// The checkpoint after the first turn.
async fn first_turn<F: Flow<State = Log>>(thread: &Thread<F>) -> u64 {
    let history = thread.history(HistoryQuery::all().turn(1)).await.unwrap();
    history[0].checkpoint
}

type Operation = fn(Thread<Turns>) -> BoxFuture<'static, Result<(), ThreadError>>;

/// What one turn more gives for each thread.
async fn next_turns(store: &Arc<dyn Store>) -> Vec<(String, Vec<String>)> {
    let threads = Turns::new().store(store);
    let mut turns = Vec::new();
    for info in threads.list(ThreadQuery::default()).await.unwrap() {
        let log = expect_finished(threads.thread(&*info.id).run(list([]))).await;
        turns.push((info.id, log.xs));
    }
    turns
}

/// What happens at a call to the store: the process dies, the store fails from then on, or once; before the call is done, or after.
const FAULTS: [FaultKind; 6] = [
    FaultKind::KilledBefore,
    FaultKind::KilledAfter,
    FaultKind::OutageBefore,
    FaultKind::OutageAfter,
    FaultKind::TransientErrorBefore,
    FaultKind::TransientErrorAfter,
];

/// Runs the operation in a process that dies at a write to the store, before or after it. `None` if it does not write that often.
async fn killed(
    store: &Arc<dyn Store>,
    operation: Operation,
    kind: FaultKind,
    nth: u64,
) -> Option<()> {
    let faulty = FaultyStore::new(store);
    faulty.inject(Fault { kind, nth });
    let thread = Turns::new().store(&faulty).thread("t");
    tokio::select! {
        biased;
        () = faulty.died() => {}
        result = operation(thread) => assert!(result.is_ok() || faulty.fault_occurred()),
    }
    faulty.detach();
    faulty.fault_occurred().then_some(())
}

/// Kills the operation at each write. `is_atomic`: it is complete or has not begun.
async fn check(open: Open, operation: Operation, is_atomic: bool) {
    let Some(Opened {
        store,
        guard: _guard,
    }) = open().await
    else {
        return;
    };
    let thread = three_turns(&store).await;
    let before = contents(&*store).await;
    operation(thread).await.unwrap();
    let after = contents(&*store).await;
    let next_after = next_turns(&store).await;
    for kind in FAULTS {
        for nth in 1.. {
            let Some(Opened {
                store,
                guard: _guard,
            }) = open().await
            else {
                return;
            };
            let thread = three_turns(&store).await;
            if killed(&store, operation, kind, nth).await.is_none() {
                assert!(nth > 2, "an operation claims its thread and writes");
                break;
            }
            let what = format!("{kind:?} at write {nth}");
            let found = contents(&*store).await;
            let is_done = found == after;
            assert!(
                !is_atomic || is_done || found == before,
                "{what}: {found:#?}"
            );
            // What a server does at its start.
            let interrupted = ThreadQuery {
                status: Some(ThreadStatus::Running),
                ..ThreadQuery::default()
            };
            let resumed = Turns::new().store(&store).resume_all(interrupted).await;
            assert!(resumed.unwrap().is_empty(), "{what}: nothing runs");
            assert_eq!(contents(&*store).await, found, "{what}");
            if !is_done {
                let again = operation(thread).await;
                again.unwrap_or_else(|error| panic!("{what}, and again: {error}"));
                assert_eq!(contents(&*store).await, after, "{what}, and again");
            }
            assert_eq!(next_turns(&store).await, next_after, "{what}");
        }
    }
}

/// A fork of a thread whose sub-flow retains its state.
pub async fn a_fork_is_complete_or_has_not_begun(open: Open) {
    let fork: Operation =
        |thread| Box::pin(async move { thread.fork(first_turn(&thread).await).await.map(drop) });
    check(open, fork, true).await;
}

/// After a fork that was interrupted, the next turn continues the state of the sub-flow: from the fork, or as before it.
pub async fn after_a_killed_fork_the_next_turn_continues_the_state_of_the_sub_flow(open: Open) {
    let fork: Operation =
        |thread| Box::pin(async move { thread.fork(first_turn(&thread).await).await.map(drop) });
    for kind in FAULTS {
        for nth in 1.. {
            let Some(opened) = open().await else { return };
            let thread = three_turns(&opened.store).await;
            if killed(&opened.store, fork, kind, nth).await.is_none() {
                break;
            }
            let log = expect_finished(thread.run(list([]))).await;
            let unbroken = [list(["1", "2", "3", "4"]), list(["1", "2"])];
            assert!(unbroken.contains(&log.xs), "{kind:?} {nth}: {:?}", log.xs);
        }
    }
}

/// A fork to another thread.
pub async fn a_fork_to_another_thread_is_complete_or_has_not_begun(open: Open) {
    let fork: Operation = |thread| {
        Box::pin(async move {
            let first = thread.history(HistoryQuery::all().turn(2)).await?;
            let begun = first.last().expect("the turn has begun").checkpoint;
            thread.fork_to(begun, "other").await.map(drop)
        })
    };
    check(open, fork, true).await;
}

/// A copy of a thread with its history.
pub async fn a_copy_is_complete_or_has_not_begun(open: Open) {
    let copy: Operation = |thread| Box::pin(async move { thread.copy_to("other").await.map(drop) });
    check(open, copy, true).await;
}

/// Edits of several supersteps.
pub async fn edits_of_several_supersteps_are_complete_or_have_not_begun(open: Open) {
    let edit: Operation = |thread| {
        Box::pin(async move {
            let by = |node: &str, text: &str| vec![Edit::new(LogXs(list([text]))).by(node)];
            let supersteps = vec![by("total", "a"), by("total", "b")];
            thread.update_all(supersteps).await.map(drop)
        })
    };
    check(open, edit, true).await;
}

/// A pruning, which has a call for each flow.
pub async fn a_pruning_that_was_killed_is_completed_by_the_next(open: Open) {
    let prune: Operation =
        |thread| Box::pin(async move { thread.prune(Retention::max_checkpoints(1)).await });
    // It claims nothing.
    let Some(Opened {
        store,
        guard: _guard,
    }) = open().await
    else {
        return;
    };
    let thread = three_turns(&store).await;
    prune(thread).await.unwrap();
    let after = contents(&*store).await;
    for kind in FAULTS {
        for nth in 1.. {
            let Some(Opened {
                store,
                guard: _guard,
            }) = open().await
            else {
                return;
            };
            let thread = three_turns(&store).await;
            if killed(&store, prune, kind, nth).await.is_none() {
                assert!(nth > 2, "it prunes two flows");
                break;
            }
            prune(thread).await.unwrap();
            assert_eq!(contents(&*store).await, after, "{kind:?} at write {nth}");
            let next = next_turns(&store).await;
            assert_eq!(next, [("t".to_string(), list(["1", "2", "3", "4"]))]);
        }
    }
}

/// How long a question can be answered: longer than a run of any machine takes until it waits, because a question that expires earlier
/// is settled by the run. Sweeps have a clock that is ahead.
const ANSWERABLE: Duration = Duration::from_hours(1);

#[derive(Serialize, Deserialize)]
struct Bid;

impl Ask for Bid {
    type Answer = String;
    const NAME: &'static str = "bid";

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: ANSWERABLE,
            answer: "nothing".into(),
        })
    }
}

#[node(Log)]
async fn bid(cx: Context) -> petalflow::Result<LogXs> {
    Ok(LogXs(vec![cx.ask(Bid).await?]))
}

flow!(BidInside(Log) { bid });

flow! {
    /// Asks in the flow itself and in a sub-flow.
    Auction(Log) {
        node inside: BidInside { in: || Vec::new(), out: |log: Log| LogXs(log.xs) };
        START -> bid & inside;
    }
}

/// Whether a question is stored, in the flow or in its sub-flow.
async fn is_asked(store: &dyn Store) -> bool {
    for namespace in ["", "inside"] {
        let address = Address {
            thread: "t",
            namespace,
        };
        let writes = store.writes(address, 0..u64::MAX).await.unwrap();
        if writes
            .iter()
            .any(|(_, write)| write.name.starts_with("ask/"))
        {
            return true;
        }
    }
    false
}

/// Sweeps until nothing is due.
async fn sweep_all(store: &Arc<dyn Store>) {
    for sweep in 1..=10 {
        // A run that is resumed may ask a question that was not stored. It has expired at the next sweep.
        let later = FaultyStore::new(store).ahead(sweep * 10 * ANSWERABLE);
        let swept = Auction::new().store(&later).sweep().await.unwrap();
        if swept.is_empty() {
            return;
        }
    }
    panic!("a thread is due again and again");
}

async fn finished_auction(store: &Arc<dyn Store>) -> Option<Vec<String>> {
    let snapshot = Auction::new().store(store).thread("t").snapshot().await;
    let snapshot = snapshot.unwrap()?;
    snapshot.is_finished().then_some(snapshot.state.xs)
}

/// A question, in the flow or in its sub-flow, and the sweep after it has expired.
pub async fn a_sweep_finds_each_question_that_was_stored_before_the_process_died(open: Open) {
    for kind in FaultKind::KILLED {
        let mut found = 0;
        for nth in 1.. {
            let Some(Opened {
                store,
                guard: _guard,
            }) = open().await
            else {
                return;
            };
            let faulty = FaultyStore::new(&store);
            faulty.inject(Fault { kind, nth });
            let thread = Auction::new().store(&faulty).thread("t");
            tokio::select! {
                biased;
                () = faulty.died() => {}
                outcome = thread.run(list([])) => drop(outcome.unwrap()),
            }
            faulty.detach();
            if !faulty.fault_occurred() {
                assert!(found > 1, "the process died after a question was stored");
                break;
            }
            let asked = is_asked(&*store).await;
            sweep_all(&store).await;
            let ended = finished_auction(&store).await;
            let place = format!("{kind:?} at write {nth}: {}", faulty.last());
            // A call that was in flight, as that of the sub-flow, may have stored the question after it was looked for.
            if asked || ended.is_some() {
                assert_eq!(ended, Some(list(["nothing", "nothing"])), "{place}");
            }
            found += usize::from(asked);
        }
    }
}

/// A sweep.
pub async fn a_sweep_that_was_killed_is_completed_at_the_next_start(open: Open) {
    for kind in FaultKind::KILLED {
        for nth in 1.. {
            let Some(Opened {
                store,
                guard: _guard,
            }) = open().await
            else {
                return;
            };
            let paused = Auction::new().store(&store).thread("t").run(list([])).await;
            assert_eq!(paused.unwrap().interrupts().len(), 2);
            let faulty = FaultyStore::new(&store).ahead(2 * ANSWERABLE);
            faulty.inject(Fault { kind, nth });
            let threads = Auction::new().store(&faulty);
            tokio::select! {
                biased;
                () = faulty.died() => {}
                swept = threads.sweep() => drop(swept.unwrap()),
            }
            faulty.detach();
            if !faulty.fault_occurred() {
                assert!(nth > 3, "a sweep resumes a thread");
                break;
            }
            let interrupted = ThreadQuery {
                status: Some(ThreadStatus::Running),
                ..ThreadQuery::default()
            };
            let threads = Auction::new().store(&store);
            threads.resume_all(interrupted).await.unwrap();
            sweep_all(&store).await;
            let ended = finished_auction(&store).await;
            let unbroken = Some(list(["nothing", "nothing"]));
            assert_eq!(
                ended,
                unbroken,
                "{kind:?} at write {nth}: {}",
                faulty.last()
            );
        }
    }
}

/// Makes a test of each case. `open` is an [`Open`].
#[macro_export]
macro_rules! operation_tests {
    ($name:ident, $open:expr) => {
        $crate::operation_tests! { @cases $name, $open,
            a_fork_is_complete_or_has_not_begun
            after_a_killed_fork_the_next_turn_continues_the_state_of_the_sub_flow
            a_fork_to_another_thread_is_complete_or_has_not_begun
            a_copy_is_complete_or_has_not_begun
            edits_of_several_supersteps_are_complete_or_have_not_begun
            a_pruning_that_was_killed_is_completed_by_the_next
            a_sweep_finds_each_question_that_was_stored_before_the_process_died
            a_sweep_that_was_killed_is_completed_at_the_next_start
        }
    };
    (@cases $name:ident, $open:expr, $($case:ident)*) => {
        mod $name {
            #[allow(unused_imports, clippy::wildcard_imports)]
            use super::*;

            $(#[tokio::test]
            async fn $case() {
                $crate::operations::$case($open).await;
            })*
        }
    };
}
