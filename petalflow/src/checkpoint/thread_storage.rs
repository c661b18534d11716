//! A thread in a store.

use std::ops::Range;
use std::sync::Arc;

use super::{Address, SEALED_MARKER, Store, StoreError, Stored, StoredCheckpoint, StoredWrite};
use crate::future::BoxFuture;

/// A thread in a store.
#[derive(Clone)]
pub(crate) struct ThreadStorage {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) thread: Arc<str>,
}

impl ThreadStorage {
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
        checkpoint: &'a StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store
            .append(self.address(namespace), checkpoint, after, settled)
    }

    #[inline]
    pub(crate) async fn write(
        &self,
        namespace: &str,
        seq: u64,
        writes: Vec<StoredWrite>,
    ) -> Result<(), StoreError> {
        self.store
            .write(self.address(namespace), seq, &writes)
            .await
    }

    #[inline]
    pub(crate) async fn read(
        &self,
        namespace: &str,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let stored = self.store.read(self.address(namespace), seq).await?;
        let chain = stored.iter().flat_map(|stored| &stored.chain);
        self.refuse_sealed(namespace, chain)?;
        Ok(stored)
    }

    /// The writes beside one checkpoint number.
    #[inline]
    pub(crate) async fn writes(
        &self,
        namespace: &str,
        seq: u64,
    ) -> Result<Vec<StoredWrite>, StoreError> {
        let seqs = seq..seq.saturating_add(1);
        let writes = self.store.writes(self.address(namespace), seqs).await?;
        Ok(writes.into_iter().map(|(_, write)| write).collect())
    }

    #[inline]
    pub(crate) async fn history(
        &self,
        namespace: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let address = self.address(namespace);
        let checkpoints = self.store.history(address, before, limit).await?;
        self.refuse_sealed(namespace, &checkpoints)?;
        Ok(checkpoints)
    }

    /// Sealed payloads cannot be read. This states the reason before decoding fails.
    #[inline]
    fn refuse_sealed<'a>(
        &self,
        namespace: &str,
        checkpoints: impl IntoIterator<Item = &'a StoredCheckpoint>,
    ) -> Result<(), StoreError> {
        let is_sealed =
            |checkpoint: &&StoredCheckpoint| checkpoint.bytes.starts_with(&SEALED_MARKER);
        let Some(sealed) = checkpoints.into_iter().find(is_sealed) else {
            return Ok(());
        };
        let namespace = match namespace {
            "" => String::new(),
            inside => format!(" in `{inside}`"),
        };
        Err(StoreError::Protection(format!(
            "checkpoint {} of thread `{}`{namespace}: it is sealed, and this program uses the store without the protection that it needs: wrap the store in `petalflow_protection::ProtectedStore`",
            sealed.seq, self.thread
        )))
    }
}
