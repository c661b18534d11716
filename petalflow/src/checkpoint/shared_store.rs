//! A store behind an `Arc`.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    Address, Claim, Store, StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadChange,
    ThreadInfo, ThreadQuery,
};

/// So `Arc<dyn Store>` is a store, for programs that choose one when they run.
#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> Result<(), StoreError> {
        (**self).append(address, checkpoint, after, settled).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
    ) -> Result<(), StoreError> {
        (**self).write(address, seq, writes).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        (**self).read(address, seq).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        (**self).writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        (**self).history(address, before, limit).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        (**self).namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        (**self).threads(query).await
    }

    async fn describe(&self, thread: &str, change: ThreadChange<'_>) -> Result<(), StoreError> {
        (**self).describe(thread, change).await
    }

    async fn prune(&self, address: Address<'_>, seq: u64) -> Result<(), StoreError> {
        (**self).prune(address, seq).await
    }

    async fn delete(&self, thread: &str) -> Result<(), StoreError> {
        (**self).delete(thread).await
    }

    async fn delete_many(&self, threads: &[&str]) -> Result<(), StoreError> {
        (**self).delete_many(threads).await
    }

    async fn reclaim(&self) -> Result<(), StoreError> {
        (**self).reclaim().await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        (**self).claim(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        (**self).release(thread, owner);
    }

    fn claim_lasts(&self) -> Option<Duration> {
        (**self).claim_lasts()
    }

    fn needs_checksums(&self) -> bool {
        (**self).needs_checksums()
    }
}
