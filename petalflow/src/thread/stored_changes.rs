//! Changes of stored threads by a program without the types of their flows.

use std::collections::BTreeMap;

use super::erased::check_labels;
use super::{OnBusy, Retention, StoredThreads, ThreadError};
use crate::checkpoint::{ThreadChange, ThreadStorage};
use crate::durable::{self, NewBase, ThreadClaim};
use crate::future::BoxFuture;

impl StoredThreads {
    /// As [`Thread::delete`](super::Thread::delete), for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// If there is no such thread, it is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::delete`](super::Thread::delete).
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::thread::{StoredThreads, ThreadError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = StoredThreads::new(&InMemoryStore::new());
    /// assert!(matches!(threads.delete("ann").await, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            let (storage, _claim) = self.claimed(thread).await?;
            must_exist(&storage).await?;
            Ok(storage.delete().await?)
        })
    }

    /// As [`Thread::set_labels`](super::Thread::set_labels), for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// If there is no such thread, a name or a value has more than 255 bytes or a NUL, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::set_labels`](super::Thread::set_labels).
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::thread::{StoredThreads, ThreadError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = StoredThreads::new(&InMemoryStore::new());
    /// let labels = BTreeMap::from([("team".to_string(), "night".to_string())]);
    /// assert!(matches!(threads.set_labels("ann", labels).await, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_labels<'a>(
        &'a self,
        thread: &'a str,
        labels: BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            check_labels(thread, &labels)?;
            let storage = self.storage(thread)?;
            must_exist(&storage).await?;
            let change = ThreadChange::Labels(&labels);
            Ok(storage.store.describe(thread, change, None).await?)
        })
    }

    /// As [`Thread::prune`](super::Thread::prune), for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// If there is no such thread, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::prune`](super::Thread::prune).
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::thread::{Retention, StoredThreads, ThreadError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = StoredThreads::new(&InMemoryStore::new());
    /// let pruned = threads.prune("ann", Retention::max_checkpoints(1)).await;
    /// assert!(matches!(pruned, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prune<'a>(
        &'a self,
        thread: &'a str,
        retention: Retention,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            let storage = self.storage(thread)?;
            must_exist(&storage).await?;
            let pruned = durable::prune(&storage, retention, NewBase::No).await?;
            if !pruned.needs_base {
                return Ok(());
            }
            match self.claimed(thread).await {
                Ok((storage, _claim)) => {
                    durable::prune(&storage, retention, NewBase::Allowed).await?;
                    Ok(())
                }
                Err(ThreadError::Busy { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    /// Copies a thread to another store, with the same id: its checkpoints, its labels, its events, the results of finished tasks
    /// and open questions. The ids of its tasks stay, so an effect that was recorded is not repeated. This thread stays.
    ///
    /// The copy does not run by itself: a thread that was running, was stopped or sleeps is
    /// [held](crate::checkpoint::ThreadStatus::Held), and one that waits has no expiry. `resume` continues it. Delete one of the two
    /// before: each of them would have the effects of the nodes that follow.
    ///
    /// # Errors
    ///
    /// If there is no such thread, the other store has a thread with this id, one of the two is busy, or a store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no other thread, or the complete one. So does a crash. This thread does not change.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::thread::{StoredThreads, ThreadError};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let (store, other) = (InMemoryStore::new(), InMemoryStore::new());
    /// Talk::new().store(&store).thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
    ///
    /// let (from, to) = (StoredThreads::new(&store), StoredThreads::new(&other));
    /// from.copy_to_store("ann", &to).await?;
    /// let copy = Talk::new().store(&other).thread("ann").run(vec!["again".to_string()]).await?.into_finished()?;
    /// assert_eq!(copy.lines, ["hello", "1 so far", "again", "3 so far"]);
    /// assert!(matches!(from.copy_to_store("ann", &to).await, Err(ThreadError::Exists { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_to_store<'a>(
        &'a self,
        thread: &'a str,
        to: &'a StoredThreads,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            let (from, _claim) = self.claimed(thread).await?;
            let (to, _other_claim) = to.claimed(thread).await?;
            durable::copy_to_store(&from, &to).await
        })
    }

    /// Claims a thread. The storage writes under the claim.
    async fn claimed(&self, thread: &str) -> Result<(ThreadStorage, ThreadClaim), ThreadError> {
        let mut storage = self.storage(thread)?;
        let owner = durable::new_owner();
        let refuse = OnBusy::Refuse;
        let claim = ThreadClaim::acquire(owner, &storage, refuse, &mut None, None).await?;
        storage.claim = claim.granted();
        Ok((storage, claim))
    }
}

/// Fails if nothing is stored of a thread.
async fn must_exist(storage: &ThreadStorage) -> Result<(), ThreadError> {
    match storage.info().await? {
        Some(_) => Ok(()),
        None => Err(ThreadError::Unknown {
            thread: storage.thread.to_string(),
        }),
    }
}
