//! The store of a pass: the records of one thread in memory. What a task waits for leaves the pass before the task goes on.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, mpsc, oneshot};

use super::batch::{Batch, PassEnd, TaskRequest};
use super::record_changes::RecordChanges;
use super::record_store::RecordStore;
use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::replay_tasks::ReplayTasks;
use crate::cancel_token::CancelToken;
use crate::checkpoint::{
    Address, Claim, EVENT_LOG, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadCount, ThreadInfo, ThreadQuery, ThreadStatus, WriteName,
};
use crate::ids::TaskId;

/// A batch, and what tells that its caller has recorded it.
pub(super) type Sent = (Batch, Option<oneshot::Sender<()>>);

/// The store of a pass.
#[derive(Clone)]
pub(super) struct PassStore(Arc<Shared>);

struct Shared {
    store: RecordStore,
    thread: String,
    requests: Mutex<Vec<TaskRequest>>,
    /// Whether a task was requested.
    has_requested: AtomicBool,
    /// The nodes whose results cannot be used, and the node that has run, of a pass that is for one task.
    nodes: Mutex<Nodes>,
    heartbeats: Arc<AtomicU64>,
    engine: Option<Arc<str>>,
    /// Notified when there is something that the caller should get before the end of the pass.
    news: Notify,
    /// `None` if nobody takes batches before the end.
    batches: Option<mpsc::UnboundedSender<Sent>>,
    /// Drained by the first checkpoint of the thread's own flow, so that a pass makes one.
    token: CancelToken,
    /// Of a replay.
    replay: Option<ReplayTasks>,
}

#[derive(Default)]
struct Nodes {
    unusable: Vec<String>,
    ran: Option<String>,
}

impl PassStore {
    pub(super) fn new(
        thread: &str,
        records: ThreadRecords,
        batches: Option<mpsc::UnboundedSender<Sent>>,
    ) -> Result<Self, RecordsError> {
        Self::with(thread, records, batches, Arc::default(), (None, None))
    }

    /// For a replay: effects without a record do not run, and only these tasks.
    pub(super) fn of_replay(
        thread: &str,
        records: ThreadRecords,
        tasks: ReplayTasks,
    ) -> Result<Self, RecordsError> {
        Self::with(thread, records, None, Arc::default(), (None, Some(tasks)))
    }

    /// Hands out batches, counts how often nodes say that they go on, and is of the engine with this name.
    pub(super) fn of_pass(
        thread: &str,
        records: ThreadRecords,
        batches: mpsc::UnboundedSender<Sent>,
        heartbeats: Arc<AtomicU64>,
        engine: Option<Arc<str>>,
    ) -> Result<Self, RecordsError> {
        Self::with(thread, records, Some(batches), heartbeats, (engine, None))
    }

    fn with(
        thread: &str,
        records: ThreadRecords,
        batches: Option<mpsc::UnboundedSender<Sent>>,
        heartbeats: Arc<AtomicU64>,
        (engine, replay): (Option<Arc<str>>, Option<ReplayTasks>),
    ) -> Result<Self, RecordsError> {
        records.check_kinds()?;
        Ok(PassStore(Arc::new(Shared {
            store: RecordStore::new(thread, records),
            thread: thread.into(),
            requests: Mutex::default(),
            has_requested: AtomicBool::new(false),
            nodes: Mutex::default(),
            heartbeats,
            engine,
            news: Notify::new(),
            batches,
            token: CancelToken::new(),
            replay,
        })))
    }

    /// What the tasks of a replay did.
    pub(super) fn replay(&self) -> Option<&ReplayTasks> {
        self.0.replay.as_ref()
    }

    /// The token that stops the run of the pass.
    pub(super) fn token(&self) -> &CancelToken {
        &self.0.token
    }

    pub(super) fn request(&self, request: TaskRequest) {
        self.0.has_requested.store(true, Ordering::Relaxed);
        self.requests().push(request);
        self.0.news.notify_one();
    }

    /// Whether a task was requested.
    pub(super) fn has_requested(&self) -> bool {
        self.0.has_requested.load(Ordering::Relaxed)
    }

    /// Notes that the result of a task of this node, which has ended, cannot be used.
    pub(super) fn cannot_use(&self, node: &str) {
        self.nodes().unusable.push(node.into());
    }

    pub(super) fn unusable(&self) -> Vec<String> {
        self.nodes().unusable.clone()
    }

    /// Notes that the task runs that the pass is for.
    pub(super) fn runs(&self, node: &str) {
        self.nodes().ran = Some(node.into());
    }

    pub(super) fn ran(&self) -> Option<String> {
        self.nodes().ran.clone()
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        // Nothing under this lock can panic.
        self.0.nodes.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(super) fn batch(&self, end: Option<PassEnd>) -> Batch {
        Batch {
            requests: std::mem::take(&mut *self.requests()),
            changes: self.changes(),
            end,
        }
    }

    /// What has changed since the last batch.
    pub(super) fn changes(&self) -> RecordChanges {
        self.0.store.take_changes(&self.0.thread)
    }

    /// The records of the thread as they are now.
    pub(super) fn records(&self) -> ThreadRecords {
        self.records_of(&self.0.thread)
    }

    /// The records of this thread, or of one that was made of it.
    pub(super) fn records_of(&self, thread: &str) -> ThreadRecords {
        self.0.store.records(thread)
    }

    /// Hands out what is new, and does not wait until the caller has recorded it.
    pub(super) fn send_news(&self) {
        let Some(batches) = &self.0.batches else {
            return;
        };
        let batch = self.batch(None);
        if batch.changes.is_empty() && batch.requests.is_empty() {
            return;
        }
        // Of a pass that was dropped, nobody takes batches.
        let _ = batches.send((batch, None));
    }

    /// A checkpoint was appended. Its caller gets it with the results of tasks, or with the end of the pass.
    fn appended(&self, namespace: &str) {
        if namespace.is_empty() {
            self.0.token.drain();
        } else if namespace != EVENT_LOG {
            self.0.news.notify_one();
        }
    }

    /// Hands out what is new, and waits until the caller has recorded it.
    async fn flush(&self) -> Result<(), StoreError> {
        let Some(batches) = &self.0.batches else {
            return Ok(());
        };
        let batch = self.batch(None);
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
}

/// Whether a task waits until this record is stored.
fn is_waited_for(write: &StoredWrite) -> bool {
    let contents = write.contents();
    matches!(
        contents,
        Some(
            WriteName::Once(_)
                | WriteName::Sleep(_)
                | WriteName::Unfinished(_)
                | WriteName::Child(_)
        )
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
        self.appended(address.namespace);
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
        self.0.store.apply(thread, changes, owner).await?;
        for change in changes {
            if let StoreChange::Append { namespace, .. } = change {
                self.appended(namespace);
            }
        }
        Ok(())
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

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        self.0.store.thread_counts(query).await
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

    fn is_shared(&self) -> bool {
        false
    }

    fn heard(&self) {
        self.0.heartbeats.fetch_add(1, Ordering::Relaxed);
    }

    fn engine(&self) -> Option<&str> {
        self.0.engine.as_deref()
    }

    fn refuses_effect(&self, task: TaskId, name: &str) -> bool {
        let replay = self.0.replay.as_ref();
        replay.is_some_and(|replay| replay.refuses_effect(task, name))
    }

    fn is_replay(&self) -> bool {
        self.0.replay.is_some()
    }

    fn runs_in_replay(&self, task: TaskId, node: &str, is_subflow: bool) -> bool {
        let replay = self.0.replay.as_ref();
        replay.is_none_or(|replay| replay.runs(task, node, is_subflow))
    }

    fn prepares(&self, task: TaskId) -> bool {
        let replay = self.0.replay.as_ref();
        replay.is_some_and(|replay| replay.prepares(task))
    }

    fn enters_effect(&self, task: TaskId, name: &str) -> bool {
        let replay = self.0.replay.as_ref();
        replay.is_some_and(|replay| replay.enters_effect(task, name))
    }

    fn take_request(
        &self,
        task: TaskId,
        at: (u32, &[String], u32),
        request: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let replay = self.0.replay.as_ref()?;
        replay.take_request(task, at, request)
    }
}
