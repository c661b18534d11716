//! Claims on their way back, for stores that cannot give them back at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};

/// Claims that are to be given back, in the order in which that was asked for.
#[derive(Debug, Default)]
pub(super) struct Releases {
    noted: Mutex<Vec<(String, String)>>,
    giving: AsyncMutex<()>,
}

/// The one who gives them back just now. Two at once could give back what was claimed again in between.
pub(super) struct Giver<'a> {
    releases: &'a Releases,
    _turn: AsyncMutexGuard<'a, ()>,
}

impl Releases {
    /// Notes that an owner gives a thread back.
    pub(super) fn note(&self, thread: &str, owner: &str) {
        self.lock().push((thread.into(), owner.into()));
    }

    /// Waits for the turn to give back.
    pub(super) async fn giver(&self) -> Giver<'_> {
        Giver {
            _turn: self.giving.lock().await,
            releases: self,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        // No panic can leave it half-changed.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Giver<'_> {
    /// The thread and the owner of the next. It stays noted until it is [`done`](Self::done), so that nothing is lost when
    /// the giver is dropped or the store is away.
    pub(super) fn next(&self) -> Option<(String, String)> {
        self.releases.lock().first().cloned()
    }

    /// The next was given back.
    pub(super) fn done(&mut self) {
        self.releases.lock().remove(0);
    }
}
