//! A thread's place in a store: what the engine talks to.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use super::protection::MARKER;
use super::{Address, Protection, Store, StoreError, Stored, StoredCheckpoint, StoredWrite};
use crate::future::BoxFuture;

/// A thread's place in a store, with the protection of what is written there.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) protection: Option<Arc<dyn Protection>>,
    pub(crate) thread: Arc<str>,
}

/// What a protected checkpoint is bound to: all that a store knows of it, so that it can neither be moved elsewhere nor be
/// read from another base, as if deltas were values.
#[inline]
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

/// What a protected write is bound to.
#[inline]
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

/// Lengths and parts, one after the other, so that no other parts are the same bytes.
#[inline]
fn context(parts: [&[u8]; 6]) -> Vec<u8> {
    let mut context = Vec::new();
    for part in parts {
        context.extend_from_slice(&(part.len() as u64).to_be_bytes());
        context.extend_from_slice(part);
    }
    context
}

/// Says of what a protection's error speaks, which it cannot know.
fn name(error: StoreError, address: Address<'_>, what: impl Display) -> StoreError {
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

impl Archive {
    #[inline]
    pub(crate) fn address<'a>(&'a self, namespace: &'a str) -> Address<'a> {
        Address {
            thread: &self.thread,
            namespace,
        }
    }

    #[inline]
    pub(crate) fn append<'a>(
        &'a self,
        namespace: &'a str,
        checkpoint: &'a mut StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let address = self.address(namespace);
        if let Some(protection) = &self.protection {
            let context = checkpoint_context(address, checkpoint);
            match protection.seal(&context, std::mem::take(&mut checkpoint.bytes)) {
                Ok(sealed) => checkpoint.bytes = sealed,
                Err(error) => return Box::pin(std::future::ready(Err(error))),
            }
        }
        self.store.append(address, checkpoint, after, settled)
    }

    #[inline]
    pub(crate) async fn write(
        &self,
        namespace: &str,
        seq: u64,
        mut writes: Vec<StoredWrite>,
    ) -> Result<(), StoreError> {
        let address = self.address(namespace);
        if let Some(protection) = &self.protection {
            for write in &mut writes {
                let context = write_context(address, seq, write);
                write.bytes = protection.seal(&context, std::mem::take(&mut write.bytes))?;
            }
        }
        self.store.write(address, seq, &writes).await
    }

    #[inline]
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
    #[inline]
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

    #[inline]
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

    #[inline]
    fn open(
        &self,
        address: Address<'_>,
        checkpoint: &mut StoredCheckpoint,
    ) -> Result<(), StoreError> {
        let opened = match &self.protection {
            Some(protection) => {
                let context = checkpoint_context(address, checkpoint);
                protection.open(&context, std::mem::take(&mut checkpoint.bytes))
            }
            // It could not be read either; but this is why.
            None if checkpoint.bytes.starts_with(&MARKER) => Err(StoreError::Protection(
                "it is sealed, and this program uses the store without the protection that it needs: `Signing` or `Encryption`"
                    .into(),
            )),
            None => return Ok(()),
        };
        checkpoint.bytes = opened.map_err(|error| {
            name(
                error,
                address,
                format_args!("checkpoint {}", checkpoint.seq),
            )
        })?;
        Ok(())
    }

    #[inline]
    fn open_write(
        &self,
        address: Address<'_>,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        if let Some(protection) = &self.protection {
            let context = write_context(address, seq, write);
            let bytes = std::mem::take(&mut write.bytes);
            write.bytes = protection.open(&context, bytes).map_err(|error| {
                let what = format_args!("`{}` beside checkpoint {seq}", write.name);
                name(error, address, what)
            })?;
        }
        Ok(())
    }
}
