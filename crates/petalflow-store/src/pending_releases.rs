//! Claims that are still to be released, for stores that cannot release them at once.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Claims that a store still has to release, in the order in which [`Store::release`](super::Store::release) was called.
///
/// `Store::release` must not block. A store behind a network pushes the claim here and releases it in the background, and
/// before the next claim:
///
/// ```
/// use petalflow::checkpoint::{PendingReleases, StoreError};
///
/// async fn delete_claim(thread: String, owner: String) -> Result<(), StoreError> {
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let releases = PendingReleases::default();
/// releases.push("essay-42", "worker-1");
/// releases.release_with(delete_claim).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct PendingReleases {
    claims: Mutex<Vec<(String, String)>>,
    /// Held by the task that releases claims. Two at once could release a claim that was granted again in between.
    releasing: tokio::sync::Mutex<()>,
}

impl PendingReleases {
    /// Adds the claim of an owner on a thread.
    pub fn push(&self, thread: &str, owner: &str) {
        self.claims().push((thread.into(), owner.into()));
    }

    /// Releases the claims one after the other with `release`, which gets the thread and the owner.
    ///
    /// # Errors
    ///
    /// The first error of `release`. The claim that it was about and those after it stay pending.
    ///
    /// # Cancel safety
    ///
    /// A claim that is being released stays pending.
    pub async fn release_with<F, E>(&self, release: impl Fn(String, String) -> F) -> Result<(), E>
    where
        F: Future<Output = Result<(), E>>,
    {
        let _releasing = self.releasing.lock().await;
        while let Some((thread, owner)) = self.first() {
            release(thread, owner).await?;
            self.claims().remove(0);
        }
        Ok(())
    }

    fn first(&self) -> Option<(String, String)> {
        self.claims().first().cloned()
    }

    fn claims(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        // No panic can leave it half-changed.
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
