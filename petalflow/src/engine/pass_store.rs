//! The store of a pass: the records of one thread in memory. What a task waits for leaves the pass before the task goes on.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, mpsc, oneshot};

use super::batch::{Batch, PassEnd, TaskRequest};
use super::records::{RecordChanges, ThreadRecords, info};
use super::records_error::RecordsError;
use crate::cancel_token::CancelToken;
use crate::checkpoint::{
    Address, Claim, EVENT_LOG, InMemoryStore, Store, StoreChange, StoreError, Stored,
    StoredCheckpoint, StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus, WriteName,
};

/// A batch, and what tells that its caller has recorded it.
pub(super) type Sent = (Batch, Option<oneshot::Sender<()>>);

/// The store of a pass.
#[derive(Clone)]
pub(super) struct PassStore(Arc<Shared>);

struct Shared {
    store: InMemoryStore,
    thread: String,
    /// The records that the caller knows.
    known: tokio::sync::Mutex<ThreadRecords>,
    requests: Mutex<Vec<TaskRequest>>,
    /// Notified when there is something that the caller should get before the end of the pass.
    news: Notify,
    /// `None` if nobody takes batches before the end.
    batches: Option<mpsc::UnboundedSender<Sent>>,
    /// Drained by the first checkpoint of the thread's own flow, so that a pass makes one.
    token: CancelToken,
}

impl PassStore {
    pub(super) async fn new(
        thread: &str,
        records: ThreadRecords,
        batches: Option<mpsc::UnboundedSender<Sent>>,
    ) -> Result<Self, RecordsError> {
        let store = InMemoryStore::new();
        records.write_to(&store, thread).await?;
        Ok(PassStore(Arc::new(Shared {
            store,
            thread: thread.into(),
            known: tokio::sync::Mutex::new(records),
            requests: Mutex::default(),
            news: Notify::new(),
            batches,
            token: CancelToken::new(),
        })))
    }

    /// The token that stops the run of the pass.
    pub(super) fn token(&self) -> &CancelToken {
        &self.0.token
    }

    pub(super) fn request(&self, request: TaskRequest) {
        self.requests().push(request);
        self.0.news.notify_one();
    }

    /// Waits until there is something that the caller should get before the end of the pass.
    pub(super) async fn news(&self) {
        self.0.news.notified().await;
    }

    fn requests(&self) -> MutexGuard<'_, Vec<TaskRequest>> {
        // Nothing under this lock can panic.
        self.0
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What is new since the last batch.
    pub(super) async fn batch(&self, end: Option<PassEnd>) -> Result<Batch, StoreError> {
        let mut known = self.0.known.lock().await;
        let requests = std::mem::take(&mut *self.requests());
        let now = ThreadRecords::read(&self.0.store, &self.0.thread).await?;
        let changes = now.changes_since(&known);
        *known = now;
        Ok(Batch {
            changes,
            requests,
            end,
        })
    }

    /// All changes since the pass has begun, of a pass without batches.
    pub(super) async fn changes(&self) -> Result<RecordChanges, StoreError> {
        Ok(self.batch(None).await?.changes)
    }

    /// The records as the caller knows them.
    pub(super) async fn known(&self) -> ThreadRecords {
        self.0.known.lock().await.clone()
    }

    /// Hands out what is new, and does not wait until the caller has recorded it.
    pub(super) async fn send_news(&self) -> Result<(), StoreError> {
        let Some(batches) = &self.0.batches else {
            return Ok(());
        };
        let batch = self.batch(None).await?;
        if batch.changes.is_empty() && batch.requests.is_empty() {
            return Ok(());
        }
        // Of a pass that was dropped, nobody takes batches.
        let _ = batches.send((batch, None));
        Ok(())
    }

    /// Hands out what is new, and waits until the caller has recorded it.
    async fn flush(&self) -> Result<(), StoreError> {
        let Some(batches) = &self.0.batches else {
            return Ok(());
        };
        let batch = self.batch(None).await?;
        if batch.changes.is_empty() && batch.requests.is_empty() {
            return Ok(());
        }
        let (recorded, wait) = oneshot::channel();
        let dropped = || StoreError::other("the pass was dropped", "its caller has gone");
        batches
            .send((batch, Some(recorded)))
            .map_err(|_| dropped())?;
        wait.await.map_err(|_| dropped())
    }

    /// Sets the status of the thread, of the flow with this name.
    pub(super) async fn set_status(
        &self,
        flow: &str,
        status: ThreadStatus,
    ) -> Result<(), StoreError> {
        let due_ms = None;
        let change = ThreadChange::Status {
            flow,
            status,
            due_ms,
        };
        self.0.store.describe(&self.0.thread, change, None).await
    }

    pub(super) async fn info(&self) -> Result<ThreadInfo, StoreError> {
        Ok(info(&self.0.store, &self.0.thread)
            .await?
            .unwrap_or_default())
    }
}

/// Whether a task waits until this record is stored.
fn is_waited_for(write: &StoredWrite) -> bool {
    let contents = write.contents();
    matches!(
        contents,
        Some(WriteName::Once(_) | WriteName::Unfinished(_))
    )
}

#[async_trait]
impl Store for PassStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let store = &self.0.store;
        store
            .append(address, checkpoint, after, settled, owner)
            .await?;
        // The caller gets both with the results of tasks, or with the end of the pass.
        if address.namespace.is_empty() {
            self.0.token.drain();
        } else if address.namespace != EVENT_LOG {
            self.0.news.notify_one();
        }
        Ok(())
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.0.store.write(address, seq, writes, owner).await?;
        if writes.iter().any(is_waited_for) {
            return self.flush().await;
        }
        self.0.news.notify_one();
        Ok(())
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.0.store.apply(thread, changes, owner).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.0.store.read(address, seq).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.0.store.writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        self.0.store.history(address, before, limit).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.0.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.0.store.threads(query).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.0.store.describe(thread, change, owner).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.0.store.prune(address, seq, writes, owner).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.0.store.delete(thread, owner).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.0.store.incarnation(thread).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.0.store.claim(thread, owner).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.0.store.confirm(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.0.store.release(thread, owner);
    }

    fn needs_checksums(&self) -> bool {
        self.0.store.needs_checksums()
    }
}
