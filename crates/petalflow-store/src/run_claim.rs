//! The claim under which a run writes to its thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::RwLock;
use tokio::time::Instant;

use super::{Claim, Store, StoreError};
use crate::clock::now_ms;

/// The claim of a run on its thread. The run, its sub-flows and its tasks share it.
pub struct RunClaim {
    store: Arc<dyn Store>,
    thread: Arc<str>,
    owner: String,
    lease: Option<Lease>,
    /// Whether another run has continued the thread, so that this run must not claim it again.
    is_lost: AtomicBool,
}

/// The part of a claim that is about its expiry, in a store where claims expire.
pub(crate) struct Lease {
    lasts: Duration,
    renewed: Mutex<Moment>,
    /// What the run knows to be the newest checkpoint of the thread's own flow.
    newest: Mutex<Option<u64>>,
    /// Read while the run writes. Written while the thread is claimed again, so that nothing is written before it is known that
    /// nobody has continued the thread.
    pub(crate) writes: RwLock<()>,
}

/// A moment on both clocks: one stops while the machine is suspended, the other can be set back.
#[derive(Clone, Copy)]
pub struct Moment {
    at: Instant,
    ms: u64,
}

impl Moment {
    pub fn now() -> Self {
        Moment {
            at: Instant::now(),
            ms: now_ms(),
        }
    }

    fn elapsed(self) -> Duration {
        let on_the_wall = Duration::from_millis(now_ms().saturating_sub(self.ms));
        self.at.elapsed().max(on_the_wall)
    }
}

impl Lease {
    /// Whether the claim may have expired: the process or the store stalled for longer than it lasts.
    fn may_have_expired(&self) -> bool {
        lock(&self.renewed).elapsed() >= self.lasts
    }

    /// What the run knows to be the newest checkpoint of the thread's own flow.
    pub(crate) fn newest(&self) -> Option<u64> {
        *lock(&self.newest)
    }

    /// The run has read or appended the newest checkpoint of the thread's own flow.
    pub(crate) fn set_newest(&self, newest: Option<u64>) {
        *lock(&self.newest) = newest;
    }
}

impl RunClaim {
    /// The claim that was granted to `owner` after the moment `granted`.
    pub fn new(store: &Arc<dyn Store>, thread: &Arc<str>, owner: &str, granted: Moment) -> Self {
        RunClaim {
            lease: store.claim_lasts().map(|lasts| Lease {
                lasts,
                renewed: Mutex::new(granted),
                newest: Mutex::default(),
                writes: RwLock::default(),
            }),
            store: Arc::clone(store),
            thread: Arc::clone(thread),
            owner: owner.into(),
            is_lost: AtomicBool::new(false),
        }
    }

    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    pub(crate) fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// Fails if another run has continued the thread.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.is_lost.load(Ordering::Acquire) {
            return Err(self.lost());
        }
        Ok(())
    }

    /// Another run has continued the thread. From now on every write of this run is refused.
    pub(crate) fn set_lost(&self) {
        self.is_lost.store(true, Ordering::Release);
    }

    /// How often the claim must be renewed. `None` if it does not expire.
    pub fn renewal_interval(&self) -> Option<Duration> {
        self.lease.as_ref().map(|lease| lease.lasts / 3)
    }

    /// Renews the claim. If it is lost, the next write of the run is refused.
    pub async fn renew(&self) {
        let _ = self.ask_store().await;
    }

    /// Whether no other run has had the thread since the claim was granted, and none can have it now. Asks the store, unless the
    /// claim was renewed a short time ago.
    ///
    /// # Errors
    ///
    /// If the store cannot be asked.
    pub async fn confirm(&self) -> Result<bool, StoreError> {
        match &self.lease {
            Some(lease) if !lease.may_have_expired() => Ok(true),
            _ => self.ask_store().await,
        }
    }

    async fn ask_store(&self) -> Result<bool, StoreError> {
        let begun = Moment::now();
        let holds = self.store.confirm(&self.thread, &self.owner).await?;
        if holds {
            self.renewed(begun);
        }
        Ok(holds)
    }

    /// Claims the thread again after the claim was lost. The caller has to check that nobody has continued the thread since.
    ///
    /// # Errors
    ///
    /// [`ClaimLost`](StoreError::ClaimLost) if another run has the thread.
    pub(crate) async fn claim_again(&self) -> Result<(), StoreError> {
        self.check()?;
        let begun = Moment::now();
        match self.store.claim(&self.thread, &self.owner).await? {
            Claim::Granted => {
                self.renewed(begun);
                Ok(())
            }
            Claim::Busy { .. } => Err(self.lost()),
        }
    }

    pub(crate) fn lost(&self) -> StoreError {
        StoreError::ClaimLost {
            thread: self.thread.to_string(),
        }
    }

    fn renewed(&self, begun: Moment) {
        if let Some(lease) = &self.lease {
            *lock(&lease.renewed) = begun;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
