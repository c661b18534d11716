//! A thread's place in a store: what the engine talks to.

use std::ops::Range;
use std::sync::Arc;

use super::{Address, Protection, Store, StoreError, Stored, StoredCheckpoint, StoredWrite};

/// A thread's place in a store, with the protection of what is written there.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) protection: Option<Arc<dyn Protection>>,
    pub(crate) thread: Arc<str>,
}

/// What a protected payload is bound to, so that it cannot be moved elsewhere: lengths and parts, one after the other.
fn context(address: Address<'_>, seq: u64, write: Option<&StoredWrite>) -> Vec<u8> {
    let seq = seq.to_be_bytes();
    let task = write.map(|write| write.task.to_bytes());
    let parts = [
        address.thread.as_bytes(),
        address.namespace.as_bytes(),
        &seq,
        task.as_ref().map_or(&[], |task| &task[..]),
        write.map_or(&[], |write| write.name.as_bytes()),
    ];
    let mut context = Vec::new();
    for part in parts {
        context.extend_from_slice(&(part.len() as u64).to_be_bytes());
        context.extend_from_slice(part);
    }
    context
}

impl Archive {
    pub(crate) fn address<'a>(&'a self, namespace: &'a str) -> Address<'a> {
        Address {
            thread: &self.thread,
            namespace,
        }
    }

    pub(crate) async fn append(
        &self,
        namespace: &str,
        mut checkpoint: StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> Result<(), StoreError> {
        let address = self.address(namespace);
        if let Some(protection) = &self.protection {
            let context = context(address, checkpoint.seq, None);
            checkpoint.bytes = protection.seal(&context, checkpoint.bytes)?;
        }
        self.store
            .append(address, &checkpoint, after, settled)
            .await
    }

    pub(crate) async fn write(
        &self,
        namespace: &str,
        seq: u64,
        mut writes: Vec<StoredWrite>,
    ) -> Result<(), StoreError> {
        let address = self.address(namespace);
        if let Some(protection) = &self.protection {
            for write in &mut writes {
                let context = context(address, seq, Some(write));
                write.bytes = protection.seal(&context, std::mem::take(&mut write.bytes))?;
            }
        }
        self.store.write(address, seq, &writes).await
    }

    pub(crate) async fn read(
        &self,
        namespace: &str,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let address = self.address(namespace);
        let Some(mut stored) = self.store.read(address, seq).await? else {
            return Ok(None);
        };
        for checkpoint in &mut stored.chain {
            self.open(address, checkpoint)?;
        }
        // By number and not by what the store says: a chain is never empty.
        let seq = stored.chain.last().map_or(0, |newest| newest.seq);
        for write in &mut stored.writes {
            self.open_write(address, seq, write)?;
        }
        Ok(Some(stored))
    }

    /// The writes beside one number.
    pub(crate) async fn writes(
        &self,
        namespace: &str,
        seq: u64,
    ) -> Result<Vec<StoredWrite>, StoreError> {
        let address = self.address(namespace);
        let writes = self
            .store
            .writes(address, seq..seq.saturating_add(1))
            .await?;
        writes
            .into_iter()
            .map(|(seq, mut write)| {
                self.open_write(address, seq, &mut write)?;
                Ok(write)
            })
            .collect()
    }

    pub(crate) async fn history(
        &self,
        namespace: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let address = self.address(namespace);
        let mut checkpoints = self.store.history(address, before, limit).await?;
        for checkpoint in &mut checkpoints {
            self.open(address, checkpoint)?;
        }
        Ok(checkpoints)
    }

    fn open(
        &self,
        address: Address<'_>,
        checkpoint: &mut StoredCheckpoint,
    ) -> Result<(), StoreError> {
        if let Some(protection) = &self.protection {
            let context = context(address, checkpoint.seq, None);
            let bytes = std::mem::take(&mut checkpoint.bytes);
            checkpoint.bytes = protection.open(&context, bytes)?;
        }
        Ok(())
    }

    fn open_write(
        &self,
        address: Address<'_>,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        if let Some(protection) = &self.protection {
            let context = context(address, seq, Some(write));
            let bytes = std::mem::take(&mut write.bytes);
            write.bytes = protection.open(&context, bytes)?;
        }
        Ok(())
    }
}
