//! The threads of an engine as nodes of other threads see them.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use super::engine_threads::EngineThreads;
use super::record_store::RecordStore;
use super::thread_address::ThreadAddress;
use crate::checkpoint::{
    Address, Claim, LINKS, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery, WriteName,
};

/// The threads of a flow in an engine, as a store for nodes of other threads that start them and wait for their ends. It begins and
/// reads threads. Everything else is an error, because the engine changes its threads itself.
///
/// `Pack::new().store(&engine_store)` are threads that a node gets as `Managed<Threads<Pack>>`, as if they were in a store.
/// [`EngineThreads`] has an example.
#[derive(Clone)]
pub struct EngineStore(Arc<dyn EngineThreads>);

impl std::fmt::Debug for EngineStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EngineStore").field(&self.0.name()).finish()
    }
}

impl EngineStore {
    /// The threads of this engine.
    pub fn new(threads: impl EngineThreads) -> Self {
        EngineStore(Arc::new(threads))
    }

    /// What a thread has now.
    async fn records(&self, thread: &str) -> Result<RecordStore, StoreError> {
        Ok(RecordStore::new(thread, self.0.read(thread).await?))
    }
}

/// A change that only the engine makes.
fn refused<T>(thread: &str) -> Result<T, StoreError> {
    let message = format!("thread `{thread}` is in an engine such as Restate, which changes it");
    let source = "begin, answer and edit it with the client of the engine";
    Err(StoreError::other(message, source))
}

#[async_trait]
impl Store for EngineStore {
    async fn append(
        &self,
        address: Address<'_>,
        _: &StoredCheckpoint,
        _: Option<u64>,
        _: Range<u64>,
        _: Option<&str>,
    ) -> Result<(), StoreError> {
        refused(address.thread)
    }

    /// Takes only that a thread waits for the end of this one.
    async fn write(
        &self,
        address: Address<'_>,
        _: u64,
        writes: &[StoredWrite],
        _: Option<&str>,
    ) -> Result<(), StoreError> {
        for write in writes {
            let text = String::from_utf8_lossy(&write.bytes);
            let joining = match write.contents() {
                Some(WriteName::Joined) if address.namespace == LINKS => {
                    ThreadAddress::parse(&text)
                }
                _ => None,
            };
            let Some(joining) = joining else {
                return refused(address.thread);
            };
            self.0.join(address.thread, joining).await?;
        }
        Ok(())
    }

    /// Begins a thread that is due.
    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        _: Option<&str>,
    ) -> Result<(), StoreError> {
        let is_due = |change: &StoreChange| matches!(change, StoreChange::Status { due_ms, .. } if due_ms.is_some());
        if !changes.iter().any(is_due) {
            return refused(thread);
        }
        let records = self.records(thread).await?;
        // It fails if the thread has a checkpoint.
        records.apply(thread, changes, None).await?;
        if self.0.begin(thread, records.records(thread)).await? {
            return Ok(());
        }
        Err(StoreError::Conflict {
            thread: thread.into(),
            expected: None,
            found: Some(0),
        })
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.records(address.thread).await?.read(address, seq).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let records = self.records(address.thread).await?;
        records.writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let records = self.records(address.thread).await?;
        records.history(address, before, limit).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.records(thread).await?.namespaces(thread).await
    }

    /// Finds only the thread whose id is the prefix.
    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        if query.limit != Some(1) {
            let source = "list them with the client of the engine";
            return Err(StoreError::other(
                "the threads of an engine such as Restate cannot be listed here",
                source,
            ));
        }
        self.records(query.prefix).await?.threads(query).await
    }

    async fn describe(
        &self,
        thread: &str,
        _: ThreadChange<'_>,
        _: Option<&str>,
    ) -> Result<(), StoreError> {
        refused(thread)
    }

    async fn prune(
        &self,
        address: Address<'_>,
        _: u64,
        _: u64,
        _: Option<&str>,
    ) -> Result<(), StoreError> {
        refused(address.thread)
    }

    async fn delete(&self, thread: &str, _: Option<&str>) -> Result<(), StoreError> {
        refused(thread)
    }

    async fn incarnation(&self, _: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Of two that begin a thread, the engine refuses one.
    async fn claim(&self, _: &str, _: &str) -> Result<Claim, StoreError> {
        Ok(Claim::Granted)
    }

    async fn confirm(&self, _: &str, _: &str) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn release(&self, _: &str, _: &str) {}

    fn needs_checksums(&self) -> bool {
        false
    }

    fn engine(&self) -> Option<&str> {
        Some(self.0.name())
    }
}
