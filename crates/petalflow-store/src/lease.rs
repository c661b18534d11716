//! A claim that expires unless it is renewed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Claim, Store, StoreError};
use crate::clock::now_ms;

/// The claim of a run, in a store where claims expire. The run and its tasks share it.
pub struct Lease {
    store: Arc<dyn Store>,
    thread: Arc<str>,
    owner: String,
    lasts: Duration,
    renewed: Mutex<Moment>,
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
    /// The claim that was granted to `owner`. `None` if it does not expire.
    pub fn new(
        store: &Arc<dyn Store>,
        thread: &Arc<str>,
        owner: &str,
        granted: Moment,
    ) -> Option<Self> {
        Some(Lease {
            lasts: store.claim_lasts()?,
            store: Arc::clone(store),
            thread: Arc::clone(thread),
            owner: owner.into(),
            renewed: Mutex::new(granted),
        })
    }

    /// How often the claim must be renewed.
    pub fn renewal_interval(&self) -> Duration {
        self.lasts / 3
    }

    pub async fn claim(&self) -> Result<Claim, StoreError> {
        self.store.claim(&self.thread, &self.owner).await
    }

    /// Renews the claim. If it has expired in between, another run may have had the thread, and the claim stays
    /// [doubtful](Self::may_have_expired) although it is granted again.
    pub async fn renew(&self) {
        let begun = Moment::now();
        // If the claim is lost, the next write of the run is refused.
        if let Ok(Claim::Granted) = self.claim().await
            && !self.may_have_expired()
        {
            self.confirm(begun);
        }
    }

    /// The claim was granted after `begun`, and no other run has had the thread before.
    pub fn confirm(&self, begun: Moment) {
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = begun;
    }

    /// Whether the claim may have expired: the process or the store stalled for longer than it lasts.
    pub fn may_have_expired(&self) -> bool {
        let renewed = *self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        renewed.elapsed() >= self.lasts
    }
}
