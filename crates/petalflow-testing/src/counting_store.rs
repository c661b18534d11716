//! A store that counts what is read and written.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadCount, ThreadInfo, ThreadQuery,
};

/// A store that counts what is read from another one and written to it: to test that the traffic does not grow with the
/// history of a thread. Clones count together.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_testing::CountingStore;
/// # #[state]
/// # struct Meter { #[key(input)] reading: u64, shown: String }
/// # #[node(Meter)]
/// # async fn show(reading: &u64) -> MeterShown { MeterShown(reading.to_string()) }
/// # flow!(Show(Meter) { show });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = CountingStore::default();
/// let thread = Show::new().store(&store).thread("meter");
/// thread.run(1).await?.into_finished()?;
/// store.take();
/// thread.run(2).await?.into_finished()?;
/// let traffic = store.take();
/// assert_eq!((&traffic.reads[..], traffic.appends), (&["read"][..], 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CountingStore {
    store: Arc<dyn Store>,
    traffic: Arc<Mutex<StoreTraffic>>,
}

/// What was read from a [`CountingStore`] and written to it.
///
/// ```
/// use petalflow::checkpoint::{Address, Store};
/// use petalflow_testing::CountingStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = CountingStore::default();
/// store.read(Address::root("t"), None).await?;
/// let traffic = store.take();
/// assert_eq!((traffic.reads, traffic.read_bytes, traffic.written_bytes), (vec!["read"], 0, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreTraffic {
    /// The methods of [`Store`] that have read, in the order of their calls.
    pub reads: Vec<&'static str>,
    /// The bytes of the checkpoints that were read.
    pub read_bytes: u64,
    /// The number of checkpoints that were appended.
    pub appends: u64,
    /// The number of records of tasks that were written.
    pub writes: u64,
    /// The bytes of these checkpoints and records.
    pub written_bytes: u64,
}

impl CountingStore {
    /// Counts what is read from `store` and written to it.
    pub fn new(store: &(impl Store + Clone)) -> Self {
        CountingStore {
            store: Arc::new(store.clone()),
            traffic: Arc::default(),
        }
    }

    /// What was counted since the last call.
    pub fn take(&self) -> StoreTraffic {
        std::mem::take(&mut *self.traffic())
    }

    fn traffic(&self) -> MutexGuard<'_, StoreTraffic> {
        // Nothing under this lock can panic.
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_read(&self, method: &'static str, checkpoints: &[StoredCheckpoint]) {
        let mut traffic = self.traffic();
        traffic.reads.push(method);
        traffic.read_bytes += checkpoints.iter().map(size).sum::<u64>();
    }
}

fn size(checkpoint: &StoredCheckpoint) -> u64 {
    checkpoint.bytes.len() as u64
}

/// Counts the traffic of an [`InMemoryStore`].
impl Default for CountingStore {
    fn default() -> Self {
        Self::new(&InMemoryStore::new())
    }
}

impl std::fmt::Debug for CountingStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountingStore")
            .field("traffic", &*self.traffic())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for CountingStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        {
            let mut traffic = self.traffic();
            traffic.appends += 1;
            traffic.written_bytes += size(checkpoint);
        }
        self.store
            .append(address, checkpoint, after, settled, owner)
            .await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        {
            let bytes = writes.iter().map(|write| write.bytes.len() as u64);
            let mut traffic = self.traffic();
            traffic.writes += writes.len() as u64;
            traffic.written_bytes += bytes.sum::<u64>();
        }
        self.store.write(address, seq, writes, owner).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        {
            let mut traffic = self.traffic();
            for change in changes {
                match change {
                    StoreChange::Append { .. } => traffic.appends += 1,
                    StoreChange::Write { writes, .. } => traffic.writes += writes.len() as u64,
                    StoreChange::Status { .. } | StoreChange::Attributes(_) => {}
                }
                traffic.written_bytes += change.size() as u64;
            }
        }
        self.store.apply(thread, changes, owner).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let stored = self.store.read(address, seq).await?;
        let chain = stored.as_ref().map(|stored| &stored.chain[..]);
        self.count_read("read", chain.unwrap_or_default());
        Ok(stored)
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.count_read("writes", &[]);
        self.store.writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let history = self.store.history(address, before, limit).await?;
        self.count_read("history", &history);
        Ok(history)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.count_read("namespaces", &[]);
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.count_read("threads", &[]);
        self.store.threads(query).await
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        self.count_read("thread_counts", &[]);
        self.store.thread_counts(query).await
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

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        self.store.delete_many(threads, owner).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.store.incarnation(thread).await
    }

    async fn reclaim(&self) -> Result<(), StoreError> {
        self.store.reclaim().await
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.store.verify().await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.store.claim(thread, owner).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.store.confirm(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }

    fn claim_lasts(&self) -> Option<Duration> {
        self.store.claim_lasts()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn needs_checksums(&self) -> bool {
        self.store.needs_checksums()
    }
}
