//! A store that fails.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery,
};
use petalflow::prelude::*;
use petalflow::thread::{Durability, HistoryQuery, ThreadError};
use petalflow_test_support::assert_contains;

use crate::support::{Log, LogXs, appending, expect_finished, flow_and_graph, list, run_both};

appending! { a b }

#[node(Log)]
async fn fails() -> petalflow::Result<LogXs> {
    Err("broken".into())
}

flow_and_graph!(Chain(Log) { a -> b } nodes: a, b);
flow_and_graph!(Half(Log) { START -> a & fails; } nodes: a, fails);

/// Which of its methods fails, after how many calls of it.
const NONE: u8 = 0;
const APPEND: u8 = 1;
const WRITE: u8 = 2;
const READ: u8 = 3;
const CLAIM: u8 = 4;
const HISTORY: u8 = 5;

/// A store of which one method fails.
#[derive(Clone, Default)]
struct Faulty {
    store: InMemoryStore,
    method: Arc<AtomicU8>,
    good: Arc<AtomicUsize>,
}

impl Faulty {
    fn fail(&self, method: u8, after: usize) {
        self.method.store(method, Ordering::SeqCst);
        self.good.store(after, Ordering::SeqCst);
    }

    /// The call, or a failure where this method is to fail.
    async fn or<T>(
        &self,
        method: u8,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.method.load(Ordering::SeqCst) != method {
            return call.await;
        }
        let left = |good: usize| good.checked_sub(1);
        if self
            .good
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
            .is_ok()
        {
            return call.await;
        }
        Err(StoreError::Unavailable("the disk is full".into()))
    }
}

#[async_trait]
impl Store for Faulty {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        // Within a future of its own: this store writes when it is called.
        let call = async {
            self.store
                .append(address, checkpoint, after, settled, owner)
                .await
        };
        self.or(APPEND, call).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let call = async { self.store.write(address, seq, writes, owner).await };
        self.or(WRITE, call).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let call = async { self.store.apply(thread, changes, owner).await };
        self.or(APPEND, call).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.or(READ, self.store.read(address, seq)).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.or(READ, self.store.writes(address, seqs)).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        self.or(HISTORY, self.store.history(address, before, limit))
            .await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.store.threads(query).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.store.describe(thread, change, owner).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.store.prune(address, seq, writes, owner).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.store.delete(thread, owner).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.store.incarnation(thread).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.store.confirm(thread, owner).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.or(CLAIM, self.store.claim(thread, owner)).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }

    fn needs_checksums(&self) -> bool {
        self.store.needs_checksums()
    }
}

#[tokio::test]
async fn c60_g063_a_fault_of_the_store_fails_the_run() {
    // agentmesh ignores a failed save by default.
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for (method, after) in [(APPEND, 0), (APPEND, 1), (APPEND, 2), (READ, 0), (CLAIM, 0)] {
            if durability == Durability::Exit && method == APPEND && after > 0 {
                continue; // There is but one.
            }
            run_both!(Chain, |launch| {
                let store = Faulty::default();
                store.fail(method, after);
                let thread = launch.store(&store).durability(durability).thread("t");
                let error = thread.run(list(["i"])).await.unwrap_err();
                let text = error.to_string();
                assert!(
                    matches!(
                        error.thread_error(),
                        Some(ThreadError::Store(StoreError::Unavailable(_)))
                    ),
                    "{durability:?} {method} {after}: {text}"
                );
                assert_contains(&text, "the disk is full");
                // The thread is unharmed: it resumes when the store works again.
                store.fail(NONE, 0);
                let log = match thread.snapshot().await.unwrap() {
                    None => thread.run(list(["i"])).await,
                    Some(_) => thread.resume(()).await,
                };
                let log = log.unwrap().into_finished().unwrap();
                assert_eq!(log.xs, ["i", "a", "b"], "{durability:?} {method} {after}");
                log
            });
        }
    }
}

#[tokio::test]
async fn c60_a_failed_node_is_the_cause_even_if_the_store_fails_too() {
    run_both!(Half, |launch| {
        let store = Faulty::default();
        store.fail(WRITE, 0);
        let thread = launch.store(&store).thread("t");
        let error = thread.run(list([])).await.unwrap_err();
        assert_contains(&error, "broken");
        error.to_string()
    });
}

#[tokio::test]
async fn c60_thread_operations_report_the_error_of_the_store() {
    let store = Faulty::default();
    let thread = Chain::new().store(&store).thread("t");
    expect_finished(thread.run(list([]))).await;
    store.fail(READ, 0);
    let texts = [
        thread.snapshot().await.unwrap_err().to_string(),
        thread.snapshot_at(0).await.unwrap_err().to_string(),
        thread.fork(0).await.unwrap_err().to_string(),
        thread.resume(()).await.unwrap_err().to_string(),
    ];
    store.fail(HISTORY, 0);
    let history = thread.history(HistoryQuery::all()).await.unwrap_err();
    store.fail(CLAIM, 0);
    let delete = thread.delete().await.unwrap_err();
    for text in texts
        .into_iter()
        .chain([history.to_string(), delete.to_string()])
    {
        assert_contains(&text, "the store is not available: the disk is full");
    }
}
