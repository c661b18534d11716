//! A thread in a store.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use petalflow_codec::Record;

use super::{
    Address, Lease, SEALED_MARKER, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use crate::BoxFuture;
use petalflow_codec::checksum;

/// The namespace of the event log of a thread. That of a flow begins with the name of a node.
pub const EVENT_LOG: &str = "/events";

/// A thread in a store.
#[derive(Clone)]
pub struct ThreadStorage {
    pub store: Arc<dyn Store>,
    pub thread: Arc<str>,
    /// The claim of the run that uses the thread, if it can expire.
    pub lease: Option<Arc<Lease>>,
    /// The stored name of the thread's own flow.
    pub flow: Arc<str>,
    /// How many writes have begun, in all namespaces.
    pub begun_writes: Arc<AtomicU64>,
    /// When the first of the questions expires that the run has stored, in all namespaces. [`u64::MAX`] if none does.
    pub first_expiry: Arc<AtomicU64>,
}

/// The methods return boxed futures: the code of an `async fn` is compiled in each program that awaits it.
impl ThreadStorage {
    pub fn address<'a>(&'a self, namespace: &'a str) -> Address<'a> {
        Address {
            thread: &self.thread,
            namespace,
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
        store.append(self.address(namespace), checkpoint, after, settled)
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
        store.write(self.address(namespace), seq, &writes).await
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
        self.store.apply(&self.thread, &changes).await
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
            let writes = self.store.writes(self.address(namespace), seqs).await?;
            writes
                .into_iter()
                .map(|(seq, mut write)| {
                    self.check_write(namespace, seq, &mut write)?;
                    Ok(write)
                })
                .collect()
        })
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
            namespaces.retain(|namespace| namespace != EVENT_LOG);
            Ok(namespaces)
        })
    }

    /// Adds writes that have a question which expires then. If the process dies before it sets the status of the thread, the
    /// thread is listed as due.
    pub async fn write_question(
        &self,
        namespace: &str,
        seq: u64,
        writes: Vec<StoredWrite>,
        expires_ms: u64,
    ) -> Result<(), StoreError> {
        let earlier = self.first_expiry.fetch_min(expires_ms, Ordering::Relaxed);
        let write = StoreChange::Write {
            namespace: namespace.into(),
            seq,
            writes,
        };
        let status = StoreChange::Status {
            flow: self.flow.to_string(),
            status: ThreadStatus::Running,
            due_ms: Some(earlier.min(expires_ms)),
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
        self.store.describe(&self.thread, change).await
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
