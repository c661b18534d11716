//! A store whose payloads are sealed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use petalflow::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadCount, ThreadInfo, ThreadQuery,
};

use crate::Protection;

/// A store over another store, with a [`Protection`] of each payload: of the bytes of checkpoints, and of what tasks have
/// left beside them. Clones share the inner store.
///
/// Threads, namespaces, numbers, times, task ids, names of writes and the length of each payload are not protected. Each
/// payload is bound to its location, so a payload that was moved is refused, like one that was changed. The sizes of
/// threads are those of sealed payloads.
///
/// What is listed of threads (their flow, status and labels) is not protected either: the inner store compares it to find
/// threads. A run is not decided by it. What a thread waits for, what it runs next and whether it has finished are in its
/// checkpoints. So put no secret into a label, and do not let a label decide who may read a thread.
///
/// With a protection that hides contents, such as [`Encryption`](crate::Encryption), the inner store has no search attributes
/// (`#[key(indexed)]`), whose values would be in clear. A list with a condition on one fails with [`StoreError::Protection`].
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint};
/// use petalflow_encryption::{ProtectedStore, SecretKey, Signing};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let inner = InMemoryStore::new();
/// let store = ProtectedStore::new(inner.clone(), Signing::new(SecretKey::generate()?));
/// let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: b"payload".to_vec() };
/// store.append(Address::root("ann"), &first, None, 0..0, None).await?;
///
/// let stored = store.read(Address::root("ann"), None).await?.expect("it was appended");
/// assert_eq!(stored.chain, [first]);
/// let sealed = inner.read(Address::root("ann"), None).await?.expect("it was appended");
/// assert_ne!(sealed.chain, stored.chain);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ProtectedStore {
    store: Arc<dyn Store>,
    protection: Arc<dyn Protection>,
}

impl ProtectedStore {
    /// Protects a store. It must be empty, or all of it must have been written with the same protection.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow_encryption::{Encryption, ProtectedStore, SecretKey};
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let database = InMemoryStore::new();
    /// let open = |key| ProtectedStore::new(database.clone(), Encryption::new(SecretKey::from_bytes(key)));
    /// Write::new().store(&open([7; 32])).thread("ann").run(()).await?;
    /// let with_another_key = Write::new().store(&open([8; 32])).thread("ann").snapshot().await;
    /// assert!(with_another_key.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(store: impl Store, protection: impl Protection) -> Self {
        ProtectedStore {
            store: Arc::new(store),
            protection: Arc::new(protection),
        }
    }

    /// Fails if a list has a condition on search attributes, and the inner store has none.
    fn check_attributes(&self, query: ThreadQuery<'_>) -> Result<(), StoreError> {
        let conditions = query.filter.map(|filter| filter.attributes());
        let first = conditions.and_then(|conditions| conditions.first().map(|(name, _)| *name));
        match first.filter(|_| self.protection.hides_contents()) {
            Some(name) => Err(StoreError::Protection(format!(
                "no thread is found by its attribute `{name}`: the store is encrypted, and the index of threads would have the value in clear; find threads by status, flow or labels"
            ))),
            None => Ok(()),
        }
    }

    fn seal(
        &self,
        address: Address<'_>,
        checkpoint: &mut StoredCheckpoint,
    ) -> Result<(), StoreError> {
        let context = checkpoint_context(address, checkpoint);
        let bytes = std::mem::take(&mut checkpoint.bytes);
        checkpoint.bytes = self.protection.seal(&context, bytes)?;
        Ok(())
    }

    fn seal_write(
        &self,
        address: Address<'_>,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        let context = write_context(address, seq, write);
        let bytes = std::mem::take(&mut write.bytes);
        write.bytes = self.protection.seal(&context, bytes)?;
        Ok(())
    }

    fn open(
        &self,
        address: Address<'_>,
        checkpoint: &mut StoredCheckpoint,
    ) -> Result<(), StoreError> {
        let context = checkpoint_context(address, checkpoint);
        let bytes = std::mem::take(&mut checkpoint.bytes);
        checkpoint.bytes = self.protection.open(&context, bytes).map_err(|error| {
            let what = format_args!("checkpoint {}", checkpoint.seq);
            with_location(error, address, what)
        })?;
        Ok(())
    }

    fn open_write(
        &self,
        address: Address<'_>,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        let context = write_context(address, seq, write);
        let bytes = std::mem::take(&mut write.bytes);
        write.bytes = self.protection.open(&context, bytes).map_err(|error| {
            let what = format_args!("`{}` beside checkpoint {seq}", write.name);
            with_location(error, address, what)
        })?;
        Ok(())
    }
}

impl fmt::Debug for ProtectedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for ProtectedStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut sealed = checkpoint.clone();
        self.seal(address, &mut sealed)?;
        self.store
            .append(address, &sealed, after, settled, owner)
            .await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut sealed = writes.to_vec();
        for write in &mut sealed {
            self.seal_write(address, seq, write)?;
        }
        self.store.write(address, seq, &sealed, owner).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut sealed = changes.to_vec();
        if self.protection.hides_contents() {
            // They would be in clear in the index of threads.
            sealed.retain(|change| !matches!(change, StoreChange::Attributes(_)));
        }
        for change in &mut sealed {
            match change {
                StoreChange::Append {
                    namespace,
                    checkpoint,
                    ..
                } => self.seal(Address { thread, namespace }, checkpoint)?,
                StoreChange::Write {
                    namespace,
                    seq,
                    writes,
                } => {
                    for write in writes {
                        self.seal_write(Address { thread, namespace }, *seq, write)?;
                    }
                }
                StoreChange::Status { .. } | StoreChange::Attributes(_) => {}
            }
        }
        self.store.apply(thread, &sealed, owner).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let Some(mut stored) = self.store.read(address, seq).await? else {
            return Ok(None);
        };
        for checkpoint in &mut stored.chain {
            self.open(address, checkpoint)?;
        }
        // A chain is never empty.
        let seq = stored.chain.last().map_or(0, |newest| newest.seq);
        for write in &mut stored.writes {
            self.open_write(address, seq, write)?;
        }
        Ok(Some(stored))
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let mut writes = self.store.writes(address, seqs).await?;
        for (seq, write) in &mut writes {
            self.open_write(address, *seq, write)?;
        }
        Ok(writes)
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let mut checkpoints = self.store.history(address, before, limit).await?;
        for checkpoint in &mut checkpoints {
            self.open(address, checkpoint)?;
        }
        Ok(checkpoints)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.check_attributes(query)?;
        self.store.threads(query).await
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        self.check_attributes(query)?;
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

    async fn now_ms(&self) -> Result<u64, StoreError> {
        self.store.now_ms().await
    }

    fn heard(&self) {
        self.store.heard();
    }

    /// A seal detects what a checksum does.
    fn needs_checksums(&self) -> bool {
        false
    }
}

/// The location of a checkpoint: all that a store records about it. So it cannot be moved, and it cannot be read with
/// another base, which would turn changes into values.
fn checkpoint_context(address: Address<'_>, checkpoint: &StoredCheckpoint) -> Vec<u8> {
    context([
        b"checkpoint",
        address.thread.as_bytes(),
        address.namespace.as_bytes(),
        &checkpoint.seq.to_be_bytes(),
        &checkpoint.base.to_be_bytes(),
        &checkpoint.created_ms.to_be_bytes(),
    ])
}

/// The location of a write.
fn write_context(address: Address<'_>, seq: u64, write: &StoredWrite) -> Vec<u8> {
    context([
        b"write",
        address.thread.as_bytes(),
        address.namespace.as_bytes(),
        &seq.to_be_bytes(),
        &write.task.to_bytes(),
        write.name.as_bytes(),
    ])
}

/// The parts, each after its length, so that different parts never have the same bytes.
fn context(parts: [&[u8]; 6]) -> Vec<u8> {
    let mut context = Vec::new();
    for part in parts {
        context.extend_from_slice(&(part.len() as u64).to_be_bytes());
        context.extend_from_slice(part);
    }
    context
}

/// Adds the location to the error of a protection, which does not know it.
fn with_location(error: StoreError, address: Address<'_>, what: fmt::Arguments<'_>) -> StoreError {
    let StoreError::Protection(problem) = error else {
        return error;
    };
    let Address { thread, namespace } = address;
    let namespace = match namespace {
        "" => String::new(),
        inside => format!(" in `{inside}`"),
    };
    StoreError::Protection(format!("{what} of thread `{thread}`{namespace}: {problem}"))
}
