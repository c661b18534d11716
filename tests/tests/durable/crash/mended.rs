//! Defects that were found by crashing, each with the way to it.

use std::num::NonZeroU64;

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Durability, Retention};
use petalflow_test_support::assert_contains;
use petalflow_testing::{Fault, FaultKind, FaultyStore};

use crate::support::{Log, LogXs, appending, expect_finished, list};

appending! { a b c }

flow!(Chain(Log) { a -> b -> c });

/// The changes of a superstep whose checkpoint could not be written were missing from the next one.
#[tokio::test]
async fn a_checkpoint_after_a_failed_append_is_complete() {
    for durability in [Durability::Sync, Durability::Async] {
        for nth in 2..6 {
            let inner = InMemoryStore::new();
            let store = FaultyStore::new(&inner);
            store.inject(Fault {
                kind: FaultKind::TransientErrorBefore,
                nth,
            });
            let thread = Chain::new()
                .store(&store)
                .durability(durability)
                .thread("t");
            let error = thread.run(list(["i"])).await.unwrap_err();
            assert!(
                matches!(error.kind(), RunErrorKind::Thread { .. }),
                "{error}"
            );
            assert_contains(&error, "a fault was injected");
            let thread = Chain::new().store(&inner).thread("t");
            if thread.snapshot().await.unwrap().is_some() {
                let log = expect_finished(thread.resume(())).await;
                assert_eq!(log.xs, ["i", "a", "b", "c"], "{durability:?} {nth}");
            }
        }
    }
}

/// A claim granted to a run that was dropped during the claim must not remain.
#[tokio::test]
async fn a_run_dropped_during_its_claim_holds_no_claim() {
    let inner = InMemoryStore::new();
    let store = FaultyStore::new(&inner);
    let run = Chain::new().store(&store).thread("t").run(list([]));
    let mut run = Box::pin(run);
    // It waits once before the claim, and once before the result of the claim.
    for _ in 0..2 {
        assert!(crate::support::poll_once(&mut run).await.is_pending());
    }
    drop(run);
    let thread = Chain::new().store(&inner).thread("t");
    expect_finished(thread.run(list([]))).await;
}

/// What was left beside a frontier with a smaller number than its checkpoint was pruned with the checkpoints before.
#[tokio::test]
async fn pruning_retains_the_records_of_unfinished_tasks() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static DONE: AtomicU32 = AtomicU32::new(0);

    #[petalflow::node(Log)]
    async fn once(cx: Context) -> petalflow::Result<LogXs> {
        cx.once("count", async {
            DONE.fetch_add(1, Ordering::SeqCst);
            Ok::<_, BoxError>(())
        })
        .await?;
        if DONE.load(Ordering::SeqCst) < 10 {
            return Err("not yet".into());
        }
        Ok(LogXs(list(["once"])))
    }
    flow!(Once(Log) { a -> once });

    let thread = Once::new().store(&InMemoryStore::new()).thread("t");
    thread.run(list([])).await.unwrap_err();
    // The frontier has the same number; the numbers of the checkpoints grow.
    for text in ["x", "y"] {
        let edit = petalflow::thread::Edit::new(LogXs(list([text])));
        thread.update(edit).await.unwrap();
    }
    thread.prune(Retention::max_checkpoints(1)).await.unwrap();
    assert_eq!(DONE.fetch_add(9, Ordering::SeqCst), 1);
    let log = expect_finished(thread.resume(())).await;
    assert_eq!(log.xs, ["a", "x", "y", "once"]);
    assert_eq!(DONE.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn an_interval_longer_than_the_run_loses_nothing_at_its_end() {
    let store = InMemoryStore::new();
    let interval = Durability::Interval(NonZeroU64::new(1_000).unwrap());
    let thread = Chain::new().store(&store).durability(interval).thread("t");
    expect_finished(thread.run(list(["i"]))).await;
    let stored = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(stored.state.xs, ["i", "a", "b", "c"]);
}
