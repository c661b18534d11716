//! A thread in a store.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::Record;

use super::{
    Address, RunClaim, SEALED_MARKER, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadLinks, ThreadQuery, ThreadStatus,
};
use crate::BoxFuture;
use crate::codec::checksum;
use crate::ids::{TaskId, task_id};

/// The namespace of the event log of a thread. That of a flow begins with the name of a node.
pub const EVENT_LOG: &str = "/events";

/// The namespace of the messages to a thread.
pub const INBOX: &str = "/inbox";

/// The namespace of the messages to a key that nodes receive. The name of the key is that in storage.
pub fn inbox_of(key: &str) -> String {
    format!("{INBOX}/{key}")
}

/// Whether a namespace has messages.
pub fn is_inbox(namespace: &str) -> bool {
    let rest = namespace.strip_prefix(INBOX);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The namespace of what a thread knows of others: which threads wait for it, and which are cancelled with it.
pub const LINKS: &str = "/links";

/// The namespace of the commands to the runs of a thread.
pub const STOPS: &str = "/stops";

/// A thread in a store.
#[derive(Clone)]
pub struct ThreadStorage {
    pub store: Arc<dyn Store>,
    pub thread: Arc<str>,
    /// Distinguishes the thread from earlier ones with the same id. Known when the thread was opened. Shared by all clones.
    incarnation: Arc<AtomicU64>,
    /// The claim of the run that uses the thread. `None` for reading.
    pub claim: Option<Arc<RunClaim>>,
    /// The stored name of the thread's own flow.
    pub flow: Arc<str>,
    /// How many writes have begun, in all namespaces.
    pub begun_writes: Arc<AtomicU64>,
    /// When the first of the questions expires that the run has stored, or the first of its sleeps ends, in all namespaces. [`u64::MAX`]
    /// if none does.
    pub first_due_ms: Arc<AtomicU64>,
    /// What the run knows of other threads, in all namespaces.
    pub links: Arc<ThreadLinks>,
}

/// The methods return boxed futures: the code of an `async fn` is compiled in each program that awaits it.
impl ThreadStorage {
    /// A thread that is not claimed.
    pub fn new(store: Arc<dyn Store>, thread: Arc<str>, flow: Arc<str>) -> Self {
        ThreadStorage {
            store,
            thread,
            incarnation: Arc::default(),
            claim: None,
            flow,
            begun_writes: Arc::default(),
            first_due_ms: Arc::new(u64::MAX.into()),
            links: Arc::default(),
        }
    }

    pub fn address<'a>(&'a self, namespace: &'a str) -> Address<'a> {
        Address {
            thread: &self.thread,
            namespace,
        }
    }

    /// Distinguishes the thread from earlier ones with the same id.
    pub fn incarnation(&self) -> u64 {
        self.incarnation.load(Ordering::Relaxed)
    }

    /// The thread was opened, and has this incarnation.
    pub fn set_incarnation(&self, incarnation: u64) {
        self.incarnation.store(incarnation, Ordering::Relaxed);
    }

    /// The thread begins: asks the store for its incarnation.
    pub fn begin(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.set_incarnation(self.store.incarnation(&self.thread).await?);
            Ok(())
        })
    }

    /// The id of a task: see [`task_id`].
    pub fn task_id(&self, namespace: &str, origin: u64, node: &str, send: Option<u32>) -> TaskId {
        let incarnation = self.incarnation();
        task_id(&self.thread, incarnation, namespace, origin, node, send)
    }

    /// The run has read the newest checkpoint of the thread's own flow.
    pub fn set_newest(&self, newest: Option<u64>) {
        if let Some(lease) = self.claim.as_ref().and_then(|claim| claim.lease()) {
            lease.set_newest(newest);
        }
    }

    pub fn append<'a>(
        &'a self,
        namespace: &'a str,
        checkpoint: &'a mut StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        // Not through the `Store` of the `Arc`, which makes a future around that of the store.
        let store = &*self.store;
        if store.needs_checksums() {
            checksum::add(&checkpoint_numbers(checkpoint), &mut checkpoint.bytes);
        }
        let address = self.address(namespace);
        let Some(claim) = &self.claim else {
            return store.append(address, checkpoint, after, settled, None);
        };
        let owner = Some(claim.owner());
        let Some(lease) = claim.lease() else {
            return store.append(address, checkpoint, after, settled, owner);
        };
        Box::pin(async move {
            let append =
                || self.fenced(store.append(address, checkpoint, after, settled.clone(), owner));
            let mut appended = append().await;
            if self.claimed_again(&appended).await? {
                appended = append().await;
            }
            if namespace.is_empty() && appended.is_ok() {
                lease.set_newest(Some(checkpoint.seq));
            }
            appended
        })
    }

    pub async fn write(
        &self,
        namespace: &str,
        seq: u64,
        mut writes: Vec<StoredWrite>,
    ) -> Result<(), StoreError> {
        self.begun_writes.fetch_add(1, Ordering::Relaxed);
        let store = &*self.store;
        if store.needs_checksums() {
            for write in &mut writes {
                checksum::add(&write_key(seq, write), &mut write.bytes);
            }
        }
        let address = self.address(namespace);
        let write = || self.fenced(store.write(address, seq, &writes, self.owner()));
        let written = write().await;
        if self.claimed_again(&written).await? {
            return write().await;
        }
        written
    }

    /// Removes the checkpoints of a flow below a number, and the writes beside numbers below another.
    pub fn prune<'a>(
        &'a self,
        namespace: &'a str,
        seq: u64,
        writes: u64,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let address = self.address(namespace);
            let prune = || self.fenced(self.store.prune(address, seq, writes, self.owner()));
            let pruned = prune().await;
            if self.claimed_again(&pruned).await? {
                return prune().await;
            }
            pruned
        })
    }

    /// The owner of the claim under which this writes.
    fn owner(&self) -> Option<&str> {
        self.claim.as_ref().map(|claim| claim.owner())
    }

    /// Makes a call that writes, unless the thread belongs to another run or is being claimed again.
    async fn fenced(
        &self,
        call: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        let Some(claim) = &self.claim else {
            return call.await;
        };
        let _writes = match claim.lease() {
            Some(lease) => Some(lease.writes.read().await),
            None => None,
        };
        claim.check()?;
        call.await
    }

    /// Claims the thread again if a call was refused because the claim has expired. Returns whether to repeat the call.
    async fn claimed_again(&self, refused: &Result<(), StoreError>) -> Result<bool, StoreError> {
        if !matches!(refused, Err(StoreError::ClaimLost { .. })) {
            return Ok(false);
        }
        self.claim_again().await
    }

    /// Claims the thread again after its claim has expired, if no other run has continued or deleted it since. Returns whether
    /// that was done: where claims do not expire, a claim that is lost is that of another run.
    ///
    /// # Errors
    ///
    /// If another run has had the thread, or the store fails. From then on this run cannot write.
    pub fn claim_again(&self) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let Some((claim, lease)) = self
                .claim
                .as_ref()
                .and_then(|claim| Some((claim, claim.lease()?)))
            else {
                return Ok(false);
            };
            let _writes = lease.writes.write().await;
            claim.claim_again().await?;
            let unchanged = self.check_unchanged(lease.newest()).await;
            if let Err(StoreError::ClaimLost { .. } | StoreError::Conflict { .. }) = &unchanged {
                claim.set_lost();
                self.store.release(&self.thread, claim.owner());
            }
            unchanged?;
            Ok(true)
        })
    }

    /// Fails if the thread has another newest checkpoint, or is another thread with the same id.
    async fn check_unchanged(&self, expected: Option<u64>) -> Result<(), StoreError> {
        let newest = self.history("", None, 1).await?;
        let found = newest.first().map(|newest| newest.seq);
        let incarnation = match self.records("", &newest).await?.pop() {
            Some(record) => record.header.incarnation,
            None => self.store.incarnation(&self.thread).await?,
        };
        if found.is_some() && incarnation != self.incarnation() {
            return Err(StoreError::ClaimLost {
                thread: self.thread.to_string(),
            });
        }
        if found != expected || incarnation != self.incarnation() {
            return Err(StoreError::Conflict {
                thread: self.thread.to_string(),
                expected,
                found,
            });
        }
        Ok(())
    }

    /// Makes several changes of the thread: all or none.
    pub async fn apply(&self, mut changes: Vec<StoreChange>) -> Result<(), StoreError> {
        let checked = self.store.needs_checksums();
        for change in &mut changes {
            match change {
                StoreChange::Append { checkpoint, .. } if checked => {
                    checksum::add(&checkpoint_numbers(checkpoint), &mut checkpoint.bytes);
                }
                StoreChange::Write { seq, writes, .. } => {
                    self.begun_writes.fetch_add(1, Ordering::Relaxed);
                    for write in writes.iter_mut().filter(|_| checked) {
                        checksum::add(&write_key(*seq, write), &mut write.bytes);
                    }
                }
                _ => {}
            }
        }
        let apply = || self.fenced(self.store.apply(&self.thread, &changes, self.owner()));
        let mut applied = apply().await;
        if self.claimed_again(&applied).await? {
            applied = apply().await;
        }
        let own = changes.iter().rev().find_map(|change| match change {
            StoreChange::Append {
                namespace,
                checkpoint,
                ..
            } if namespace.is_empty() => Some(checkpoint.seq),
            _ => None,
        });
        if own.is_some() && applied.is_ok() {
            self.set_newest(own);
        }
        applied
    }

    pub fn read<'a>(
        &'a self,
        namespace: &'a str,
        seq: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        Box::pin(async move {
            let Some(mut stored) = self.store.read(self.address(namespace), seq).await? else {
                return Ok(None);
            };
            for checkpoint in &mut stored.chain {
                self.check(namespace, checkpoint)?;
            }
            // A chain is never empty.
            let seq = stored.chain.last().map_or(0, |newest| newest.seq);
            for write in &mut stored.writes {
                self.check_write(namespace, seq, write)?;
            }
            Ok(Some(stored))
        })
    }

    /// The writes beside one checkpoint number.
    pub fn writes<'a>(
        &'a self,
        namespace: &'a str,
        seq: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredWrite>, StoreError>> {
        Box::pin(async move {
            let seqs = seq..seq.saturating_add(1);
            let writes = self.writes_beside(namespace, seqs).await?;
            Ok(writes.into_iter().map(|(_, write)| write).collect())
        })
    }

    /// The writes beside these checkpoint numbers, with the numbers.
    pub async fn writes_beside(
        &self,
        namespace: &str,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let mut writes = self.store.writes(self.address(namespace), seqs).await?;
        for (seq, write) in &mut writes {
            self.check_write(namespace, *seq, write)?;
        }
        Ok(writes)
    }

    pub fn history<'a>(
        &'a self,
        namespace: &'a str,
        before: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, StoreError>> {
        Box::pin(async move {
            let address = self.address(namespace);
            let mut checkpoints = self.store.history(address, before, limit).await?;
            for checkpoint in &mut checkpoints {
                self.check(namespace, checkpoint)?;
            }
            Ok(checkpoints)
        })
    }

    /// The namespaces of the flows of the thread.
    pub fn flows(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async move {
            let mut namespaces = self.store.namespaces(&self.thread).await?;
            let own = [EVENT_LOG, LINKS, STOPS];
            namespaces.retain(|namespace| !own.contains(&&**namespace) && !is_inbox(namespace));
            Ok(namespaces)
        })
    }

    /// Adds writes that have a question which expires then, or a sleep which ends then. If the process dies before it sets the status of the thread, the
    /// thread is listed as due.
    pub async fn write_due(
        &self,
        namespace: &str,
        seq: u64,
        writes: Vec<StoredWrite>,
        due_ms: u64,
    ) -> Result<(), StoreError> {
        let earlier = self.first_due_ms.fetch_min(due_ms, Ordering::Relaxed);
        let write = StoreChange::Write {
            namespace: namespace.into(),
            seq,
            writes,
        };
        let status = StoreChange::Status {
            flow: self.flow.to_string(),
            status: ThreadStatus::Running,
            due_ms: Some(earlier.min(due_ms)),
        };
        self.apply(vec![write, status]).await
    }

    /// What is listed of the thread. `None` if it does not exist.
    pub fn info(&self) -> BoxFuture<'_, Result<Option<ThreadInfo>, StoreError>> {
        Box::pin(async move {
            let query = ThreadQuery {
                prefix: &self.thread,
                limit: Some(1),
                ..ThreadQuery::default()
            };
            // The id itself comes before all others that begin with it.
            let first = self.store.threads(query).await?.pop();
            Ok(first.filter(|info| *info.id == *self.thread))
        })
    }

    /// Sets what is listed of the last run on the thread.
    pub async fn describe(
        &self,
        status: ThreadStatus,
        due_ms: Option<u64>,
    ) -> Result<(), StoreError> {
        let change = ThreadChange::Status {
            flow: &self.flow,
            status,
            due_ms,
        };
        let describe = || self.fenced(self.store.describe(&self.thread, change, self.owner()));
        let described = describe().await;
        if self.claimed_again(&described).await? {
            return describe().await;
        }
        described
    }

    /// Sets the labels of the thread, in the place of all earlier ones.
    pub async fn set_labels(&self, labels: &BTreeMap<String, String>) -> Result<(), StoreError> {
        let change = ThreadChange::Labels(labels);
        let describe = || self.fenced(self.store.describe(&self.thread, change, self.owner()));
        let described = describe().await;
        if self.claimed_again(&described).await? {
            return describe().await;
        }
        described
    }

    /// Deletes the thread.
    pub fn delete(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.fenced(self.store.delete(&self.thread, self.owner())))
    }

    /// Decodes checkpoints of a history, which may build on others.
    pub fn records<'a>(
        &'a self,
        namespace: &'a str,
        checkpoints: &'a [StoredCheckpoint],
    ) -> BoxFuture<'a, Result<Vec<Record>, StoreError>> {
        Box::pin(async move {
            let mut base: Option<(u64, Record)> = None;
            let mut records = Vec::with_capacity(checkpoints.len());
            for checkpoint in checkpoints {
                let decode = |checkpoint: &StoredCheckpoint, base: Option<&Record>| {
                    let base = base.map(|base| &base.header);
                    Record::decode(checkpoint.seq, &checkpoint.bytes, base).map_err(|problem| {
                        let seq = checkpoint.seq;
                        self.damaged(
                            namespace,
                            format_args!("checkpoint {seq}"),
                            &problem.to_string(),
                        )
                    })
                };
                let needed = checkpoint.base;
                // Neighbours nearly always have the same base.
                if needed != checkpoint.seq && base.as_ref().is_none_or(|(seq, _)| *seq != needed) {
                    let found = self
                        .history(namespace, needed.checked_add(1), 1)
                        .await?
                        .pop();
                    let found = found.filter(|found| found.seq == needed);
                    let found = found.map(|found| decode(&found, None)).transpose()?;
                    base = found.map(|found| (needed, found));
                }
                let base = base.as_ref().filter(|_| needed != checkpoint.seq);
                records.push(decode(checkpoint, base.map(|(_, base)| base))?);
            }
            Ok(records)
        })
    }

    /// Checks the bytes of a checkpoint, and removes their checksum.
    fn check(&self, namespace: &str, checkpoint: &mut StoredCheckpoint) -> Result<(), StoreError> {
        let (thread, seq) = (&self.thread, checkpoint.seq);
        if checkpoint.bytes.starts_with(&SEALED_MARKER) {
            // Sealed payloads cannot be read. This states the reason before decoding fails.
            return Err(StoreError::Protection(format!(
                "checkpoint {seq} of thread `{thread}`{}: it is sealed, and this program uses the store without the protection that it needs: wrap the store in `petalflow_encryption::ProtectedStore`",
                within(namespace)
            )));
        }
        if !self.store.needs_checksums() {
            return Ok(());
        }
        checksum::check_and_remove(&checkpoint_numbers(checkpoint), &mut checkpoint.bytes)
            .map_err(|problem| self.damaged(namespace, format_args!("checkpoint {seq}"), &problem))
    }

    /// Checks the bytes of a write, and removes their checksum.
    fn check_write(
        &self,
        namespace: &str,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        if !self.store.needs_checksums() {
            return Ok(());
        }
        checksum::check_and_remove(&write_key(seq, write), &mut write.bytes).map_err(|problem| {
            let what = format_args!("`{}` beside checkpoint {seq}", write.name);
            self.damaged(namespace, what, &problem)
        })
    }

    fn damaged(&self, namespace: &str, what: fmt::Arguments<'_>, problem: &str) -> StoreError {
        StoreError::Damaged {
            thread: self.thread.to_string(),
            problem: format!(
                "{what}{}: {problem}; restore it from a backup",
                within(namespace)
            ),
        }
    }
}

/// The values that the checksum of a checkpoint covers in addition to its bytes. The thread and the namespace are left out,
/// so that a person can rename a thread in the store.
fn checkpoint_numbers(checkpoint: &StoredCheckpoint) -> [u8; 24] {
    let mut numbers = [0; 24];
    let parts = [checkpoint.seq, checkpoint.base, checkpoint.created_ms];
    for (to, part) in numbers.chunks_exact_mut(8).zip(parts) {
        to.copy_from_slice(&part.to_be_bytes());
    }
    numbers
}

/// The values that the checksum of a write covers in addition to its bytes.
fn write_key(seq: u64, write: &StoredWrite) -> Vec<u8> {
    [
        &seq.to_be_bytes()[..],
        &write.task.to_bytes(),
        write.name.as_bytes(),
    ]
    .concat()
}

fn within(namespace: &str) -> String {
    match namespace {
        "" => String::new(),
        inside => format!(" in `{inside}`"),
    }
}
