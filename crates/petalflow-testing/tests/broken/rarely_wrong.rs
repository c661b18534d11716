//! A store over the store in memory that is wrong only with much data, after a long time, or in a short moment.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery,
};

use super::rare::Rare::{self, *};

/// Where a store that reads one page ends.
const PAGE: usize = 1_000;

/// Where a store with fields of 24 bits cuts bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// When a call that was dropped has its effect.
const LATE: Duration = Duration::from_millis(500);

/// A store with a mistake. Clones share their data.
#[derive(Clone)]
pub(super) struct RarelyWrongStore {
    mistake: Rare,
    store: InMemoryStore,
    is_busy: Arc<AtomicBool>,
    checkpoints: Arc<AtomicU64>,
    /// When threads were created, as a prune has left it.
    created: Arc<Mutex<HashMap<String, u64>>>,
}

impl RarelyWrongStore {
    pub(super) fn new(mistake: Rare) -> Self {
        RarelyWrongStore {
            mistake,
            store: InMemoryStore::new(),
            is_busy: Arc::default(),
            checkpoints: Arc::default(),
            created: Arc::default(),
        }
    }

    fn is(&self, mistake: Rare) -> bool {
        self.mistake == mistake
    }

    fn created(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The end of a page, for a store that reads one.
    fn end(&self, mistake: Rare) -> usize {
        if self.is(mistake) { PAGE } else { usize::MAX }
    }

    fn cut(&self, bytes: &[u8]) -> Vec<u8> {
        let end = if self.is(BytesAbove16MiBAreCut) {
            bytes.len().min(LARGEST)
        } else {
            bytes.len()
        };
        bytes[..end].to_vec()
    }

    /// The time of the oldest checkpoint that is left.
    async fn oldest(&self, thread: &str) -> Result<u64, StoreError> {
        let mut oldest = u64::MAX;
        for namespace in &self.store.namespaces(thread).await? {
            let address = Address { thread, namespace };
            let history = self.store.history(address, None, usize::MAX).await?;
            let created = history.iter().map(|checkpoint| checkpoint.created_ms);
            oldest = created.min().unwrap_or(u64::MAX).min(oldest);
        }
        Ok(oldest)
    }
}

/// The claim of a call that was dropped, which a worker of the store grants later.
struct LateClaim {
    store: RarelyWrongStore,
    thread: String,
    owner: String,
    is_answered: bool,
}

impl Drop for LateClaim {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let store = self.store.clone();
        let (thread, owner) = (self.thread.clone(), self.owner.clone());
        tokio::spawn(async move {
            tokio::time::sleep(LATE).await;
            if store.is(DroppedClaimTakesTheThread) {
                store.store.release(&thread, "later");
            }
            store.store.claim(&thread, &owner).await
        });
    }
}

#[async_trait]
impl Store for RarelyWrongStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        if self.is(NamespacesConflictAtTheSameTime) && self.is_busy.swap(true, Ordering::SeqCst) {
            return Err(StoreError::Conflict {
                thread: address.thread.into(),
                expected: after,
                found: None,
            });
        }
        let counted = self.checkpoints.load(Ordering::SeqCst);
        // As a request to a server: others run meanwhile.
        std::thread::yield_now();
        let checkpoint = StoredCheckpoint {
            bytes: self.cut(&checkpoint.bytes),
            ..*checkpoint
        };
        let store = &self.store;
        let appended = store.append(address, &checkpoint, after, settled, owner);
        let appended = appended.await;
        self.checkpoints.store(counted + 1, Ordering::SeqCst);
        self.is_busy.store(false, Ordering::SeqCst);
        appended
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut writes = writes.to_vec();
        for write in &mut writes {
            write.bytes = self.cut(&write.bytes);
        }
        self.store.write(address, seq, &writes, owner).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.store.apply(thread, changes, owner).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let mut stored = self.store.read(address, seq).await?;
        if let Some(stored) = &mut stored {
            let more = stored
                .chain
                .len()
                .saturating_sub(self.end(ChainsAreCutAt1000));
            stored.chain.drain(..more);
        }
        Ok(stored)
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let mut writes = self.store.writes(address, seqs).await?;
        writes.truncate(self.end(WritesAreCutAt1000));
        Ok(writes)
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let limit = limit.min(self.end(HistoriesAreCutAt1000));
        self.store.history(address, before, limit).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let mut namespaces = self.store.namespaces(thread).await?;
        namespaces.truncate(self.end(ListsOfNamespacesAreCutAt1000));
        Ok(namespaces)
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut threads = self.store.threads(query).await?;
        threads.truncate(self.end(ListsOfThreadsAreCutAt1000));
        for info in &mut threads {
            if self.is(CountsOfNamespacesAreLost) {
                info.checkpoints = self.checkpoints.load(Ordering::SeqCst);
            }
            if let Some(created_ms) = self.created().get(&info.id) {
                info.created_ms = *created_ms;
            }
        }
        Ok(threads)
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
        self.store.prune(address, seq, writes, owner).await?;
        if self.is(CreatedChangesWithAPruneOfASubFlow) && !address.namespace.is_empty() {
            let oldest = self.oldest(address.thread).await?;
            self.created().insert(address.thread.into(), oldest);
        }
        Ok(())
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.store.delete(thread, owner).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.store.incarnation(thread).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        if self.is(DroppedClaimIsGrantedWhenFree) || self.is(DroppedClaimTakesTheThread) {
            let mut late = LateClaim {
                store: self.clone(),
                thread: thread.into(),
                owner: owner.into(),
                is_answered: false,
            };
            tokio::task::yield_now().await;
            late.is_answered = true;
        }
        self.store.claim(thread, owner).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.store.confirm(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }
}
