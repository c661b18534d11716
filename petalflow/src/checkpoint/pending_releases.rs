//! Claims that are still to be released, for stores that cannot release them at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};

/// Claims that a store still has to release, in the order in which [`Store::release`](super::Store::release) was called.
///
/// `Store::release` must not block. A store behind a network pushes the claim here and releases it in the background, and
/// before the next claim:
///
/// ```
/// use petalflow::checkpoint::{PendingReleases, StoreError};
///
/// async fn delete_claim(thread: &str, owner: &str) -> Result<(), StoreError> {
///     Ok(())
/// }
///
/// async fn release_pending(releases: &PendingReleases) -> Result<(), StoreError> {
///     let mut turn = releases.lock().await;
///     while let Some((thread, owner)) = turn.next() {
///         delete_claim(&thread, &owner).await?;
///         turn.done();
///     }
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let releases = PendingReleases::default();
/// releases.push("essay-42", "worker-1");
/// release_pending(&releases).await?;
/// assert_eq!(releases.lock().await.next(), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct PendingReleases {
    claims: Mutex<Vec<(String, String)>>,
    turn: AsyncMutex<()>,
}

/// The exclusive right to release pending claims. Two tasks at once could release a claim that was granted again in between.
#[derive(Debug)]
pub struct ReleaseTurn<'a> {
    releases: &'a PendingReleases,
    _turn: AsyncMutexGuard<'a, ()>,
}

impl PendingReleases {
    /// Adds the claim of an owner on a thread.
    pub fn push(&self, thread: &str, owner: &str) {
        self.claims().push((thread.into(), owner.into()));
    }

    /// Waits until no other task releases claims.
    pub async fn lock(&self) -> ReleaseTurn<'_> {
        ReleaseTurn {
            _turn: self.turn.lock().await,
            releases: self,
        }
    }

    fn claims(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        // No panic leaves it inconsistent.
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReleaseTurn<'_> {
    /// The thread and the owner of the next claim. It stays pending until it is [`done`](Self::done), so that nothing is lost
    /// when the task is dropped or the store is not available.
    pub fn next(&self) -> Option<(String, String)> {
        self.releases.claims().first().cloned()
    }

    /// Removes the next claim: it was released.
    pub fn done(&mut self) {
        let mut claims = self.releases.claims();
        if !claims.is_empty() {
            claims.remove(0);
        }
    }
}
