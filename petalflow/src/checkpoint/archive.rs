//! A thread's place in a store: what the engine talks to.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use super::checksum;
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

/// What the checksum of a checkpoint covers beside its bytes. The thread and the namespace are left out, so that a person can
/// rename a thread in the store.
#[inline]
fn checkpoint_numbers(checkpoint: &StoredCheckpoint) -> [u8; 24] {
    let mut numbers = [0; 24];
    let parts = [checkpoint.seq, checkpoint.base, checkpoint.created_ms];
    for (to, part) in numbers.chunks_exact_mut(8).zip(parts) {
        to.copy_from_slice(&part.to_be_bytes());
    }
    numbers
}

/// What the checksum of a write covers beside its bytes.
#[inline]
fn write_key(seq: u64, write: &StoredWrite) -> Vec<u8> {
    [
        &seq.to_be_bytes()[..],
        &write.task.to_bytes(),
        write.name.as_bytes(),
    ]
    .concat()
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

/// Adds to the error of a protection what it is about, which the protection cannot know.
fn name(error: StoreError, address: Address<'_>, what: impl Display) -> StoreError {
    let StoreError::Protection(problem) = error else {
        return error;
    };
    let Address { thread, namespace } = address;
    let namespace = within(namespace);
    StoreError::Protection(format!("{what} of thread `{thread}`{namespace}: {problem}"))
}

/// The error of a payload whose checksum shows that it changed.
fn damaged(problem: String, address: Address<'_>, what: impl Display) -> StoreError {
    let namespace = within(address.namespace);
    StoreError::Damaged {
        thread: address.thread.into(),
        problem: format!("{what}{namespace}: {problem}; restore it from a backup"),
    }
}

fn within(namespace: &str) -> String {
    match namespace {
        "" => String::new(),
        inside => format!(" in `{inside}`"),
    }
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
        } else if self.store.needs_checksums() {
            checksum::add(&checkpoint_numbers(checkpoint), &mut checkpoint.bytes);
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
        } else if self.store.needs_checksums() {
            for write in &mut writes {
                checksum::add(&write_key(seq, write), &mut write.bytes);
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
        let seq = checkpoint.seq;
        let what = format_args!("checkpoint {seq}");
        if let Some(protection) = &self.protection {
            let context = checkpoint_context(address, checkpoint);
            let opened = protection.open(&context, std::mem::take(&mut checkpoint.bytes));
            checkpoint.bytes = opened.map_err(|error| name(error, address, what))?;
            return Ok(());
        }
        if checkpoint.bytes.starts_with(&MARKER) {
            // Without the protection it cannot be read either. This error gives the cause.
            let problem = "it is sealed, and this program uses the store without the protection that it needs: `Signing` or `Encryption`";
            return Err(name(StoreError::Protection(problem.into()), address, what));
        }
        let numbers = checkpoint_numbers(checkpoint);
        checksum::check_and_remove(
            &numbers,
            &mut checkpoint.bytes,
            self.store.needs_checksums(),
        )
        .map_err(|problem| damaged(problem, address, what))
    }

    #[inline]
    fn open_write(
        &self,
        address: Address<'_>,
        seq: u64,
        write: &mut StoredWrite,
    ) -> Result<(), StoreError> {
        let what = format_args!("`{}` beside checkpoint {seq}", write.name);
        if let Some(protection) = &self.protection {
            let context = write_context(address, seq, write);
            let opened = protection.open(&context, std::mem::take(&mut write.bytes));
            write.bytes = opened.map_err(|error| name(error, address, what))?;
            return Ok(());
        }
        let key = write_key(seq, write);
        checksum::check_and_remove(&key, &mut write.bytes, self.store.needs_checksums())
            .map_err(|problem| damaged(problem, address, what))
    }
}
