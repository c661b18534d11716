//! Claims on threads.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::cancel_token::CancelToken;
use crate::checkpoint::{Claim, Lease, Moment, OnBusy, Store, ThreadStorage};
use crate::outcome::ThreadError;

/// How long to wait before a claim is tried again, at first and at most.
const WAITS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(200));

/// The claim of a run on a thread. Dropping it releases the claim.
pub(crate) struct ThreadClaim {
    store: Arc<dyn Store>,
    thread: Arc<str>,
    owner: String,
    /// `None` if the claim does not expire.
    lease: Option<Arc<Lease>>,
}

/// The cancel tokens of the runs of this process, by thread and owner.
#[inline]
fn runs() -> MutexGuard<'static, HashMap<(Arc<str>, String), CancelToken>> {
    static RUNS: OnceLock<Mutex<HashMap<(Arc<str>, String), CancelToken>>> = OnceLock::new();
    let runs = RUNS.get_or_init(Mutex::default);
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadClaim {
    /// Claims the thread. `on_busy` decides what happens if another run has it. From now on, another run can cancel this one.
    #[inline]
    pub(crate) async fn get(
        storage: &ThreadStorage,
        on_busy: OnBusy,
        cancel: &mut Option<CancelToken>,
    ) -> Result<Self, ThreadError> {
        let owner = format!(
            "{:016x}{:016x}",
            RandomState::new().hash_one(0),
            RandomState::new().hash_one(1)
        );
        let ThreadStorage { store, thread, .. } = storage;
        let busy = || ThreadError::Busy {
            thread: thread.to_string(),
        };
        let (mut wait, longest) = WAITS;
        // Created before the claim is granted: if this future is dropped while it waits, the store may have granted it already.
        let mut claimed = ThreadClaim {
            store: Arc::clone(store),
            thread: Arc::clone(thread),
            owner,
            lease: None,
        };
        let granted = loop {
            let begun = Moment::now();
            match store.claim(thread, &claimed.owner).await? {
                Claim::Granted => break begun,
                Claim::Busy { .. } if on_busy == OnBusy::Refuse => return Err(busy()),
                Claim::Busy { owner: other } => {
                    if on_busy == OnBusy::Cancel {
                        let known = runs().get(&(Arc::clone(thread), other)).cloned();
                        let elsewhere = || ThreadError::BusyElsewhere {
                            thread: thread.to_string(),
                        };
                        known.ok_or_else(elsewhere)?.cancel();
                    }
                    if cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
                        return Err(busy());
                    }
                    tokio::time::sleep(wait).await;
                    wait = longest.min(wait * 2);
                }
            }
        };
        claimed.lease = Lease::new(store, thread, &claimed.owner, granted).map(Arc::new);
        let token = cancel.get_or_insert_default().clone();
        runs().insert(claimed.key(), token);
        Ok(claimed)
    }

    /// The claim, if it can expire.
    #[inline]
    pub(crate) fn lease(&self) -> Option<Arc<Lease>> {
        self.lease.clone()
    }

    #[inline]
    fn key(&self) -> (Arc<str>, String) {
        (Arc::clone(&self.thread), self.owner.clone())
    }

    /// Awaits the run, and renews the claim if it would expire.
    pub(crate) async fn hold<T>(&self, run: impl Future<Output = T>) -> T {
        let Some(lease) = &self.lease else {
            return run.await;
        };
        let renew = async {
            loop {
                tokio::time::sleep(lease.renewal_interval()).await;
                lease.renew().await;
            }
        };
        let (mut run, mut renew) = (std::pin::pin!(run), std::pin::pin!(renew));
        std::future::poll_fn(|cx| {
            let _: std::task::Poll<std::convert::Infallible> = renew.as_mut().poll(cx);
            run.as_mut().poll(cx)
        })
        .await
    }
}

impl Drop for ThreadClaim {
    #[inline]
    fn drop(&mut self) {
        runs().remove(&self.key());
        self.store.release(&self.thread, &self.owner);
    }
}
