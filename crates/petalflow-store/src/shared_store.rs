//! A store behind an `Arc`.

use crate::ids::TaskId;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadCount, ThreadInfo, ThreadQuery,
};

/// Implements `Store` for an `Arc`: each method calls that of the store in it.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// So `Arc<dyn Store>` is a store, for programs that choose one when they run.
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<S: Store + ?Sized> Store for Arc<S> {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
                (**self).$name($($argument),*).await
            })*

            fn release(&self, thread: &str, owner: &str) {
                (**self).release(thread, owner);
            }

            fn claim_lasts(&self) -> Option<Duration> {
                (**self).claim_lasts()
            }

            fn is_shared(&self) -> bool {
                (**self).is_shared()
            }

            fn needs_checksums(&self) -> bool {
                (**self).needs_checksums()
            }

            fn heard(&self) {
                (**self).heard();
            }

            fn engine(&self) -> Option<&str> {
                (**self).engine()
            }

            fn refuses_effect(&self, task: TaskId, name: &str) -> bool {
                (**self).refuses_effect(task, name)
            }

            fn is_replay(&self) -> bool {
                (**self).is_replay()
            }

            fn runs_in_replay(&self, task: TaskId, node: &str, is_subflow: bool) -> bool {
                (**self).runs_in_replay(task, node, is_subflow)
            }

            fn enters_effect(&self, task: TaskId, name: &str) -> bool {
                (**self).enters_effect(task, name)
            }

            fn prepares(&self, task: TaskId) -> bool {
                (**self).prepares(task)
            }

            fn take_request(
                &self,
                task: TaskId,
                at: (u32, &[String], u32),
                request: Vec<u8>,
            ) -> Option<Vec<u8>> {
                (**self).take_request(task, at, request)
            }
        }
    };
}

forward! {
    append(address: Address<'_>, checkpoint: &StoredCheckpoint, after: Option<u64>, settled: Range<u64>, owner: Option<&str>) -> ();
    write(address: Address<'_>, seq: u64, writes: &[StoredWrite], owner: Option<&str>) -> ();
    apply(thread: &str, changes: &[StoreChange], owner: Option<&str>) -> ();
    read(address: Address<'_>, seq: Option<u64>) -> Option<Stored>;
    writes(address: Address<'_>, seqs: Range<u64>) -> Vec<(u64, StoredWrite)>;
    history(address: Address<'_>, before: Option<u64>, limit: usize) -> Vec<StoredCheckpoint>;
    namespaces(thread: &str) -> Vec<String>;
    threads(query: ThreadQuery<'_>) -> Vec<ThreadInfo>;
    thread_counts(query: ThreadQuery<'_>) -> Vec<ThreadCount>;
    describe(thread: &str, change: ThreadChange<'_>, owner: Option<&str>) -> ();
    prune(address: Address<'_>, seq: u64, writes: u64, owner: Option<&str>) -> ();
    delete(thread: &str, owner: Option<&str>) -> ();
    delete_many(threads: &[&str], owner: Option<&str>) -> ();
    incarnation(thread: &str) -> u64;
    reclaim() -> ();
    now_ms() -> u64;
    verify() -> Vec<String>;
    claim(thread: &str, owner: &str) -> Claim;
    confirm(thread: &str, owner: &str) -> bool;
}
