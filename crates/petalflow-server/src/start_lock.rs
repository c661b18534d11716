//! One of several requests with the same identifier starts a thread.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::{Claim, Store as _};

use crate::refusal::Refusal;
use crate::server::Inner;

/// How long a request waits for another one with the same identifier that has not been stored yet.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A claim of the store in addition to that of the thread. With it, only one of several requests begins the
/// thread, in any process.
pub(crate) struct StartLock {
    server: Arc<Inner>,
    name: String,
    owner: String,
}

impl StartLock {
    /// With it, no request of a client begins a turn of the thread.
    pub(crate) async fn of_requests(server: &Arc<Inner>, thread: &str) -> Result<Self, Refusal> {
        Self::take(server, &format!("{thread}:request")).await
    }

    pub(crate) async fn take(server: &Arc<Inner>, thread: &str) -> Result<Self, Refusal> {
        let lock = StartLock {
            server: Arc::clone(server),
            name: format!("{thread}:begin"),
            owner: format!("{:032x}", fastrand::u128(..)),
        };
        let store = &server.settings.store;
        let taken = async {
            while let Claim::Busy { .. } = store.claim(&lock.name, &lock.owner).await? {
                tokio::time::sleep(LOCK_POLL_INTERVAL).await;
            }
            Ok::<_, Refusal>(())
        };
        match tokio::time::timeout(LOCK_TIMEOUT, taken).await {
            Ok(Ok(())) => Ok(lock),
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => Err(Refusal::new(
                StatusCode::CONFLICT,
                "another request with this identifier is being stored",
            )),
        }
    }
}

/// Does nothing if the claim was not granted.
impl Drop for StartLock {
    fn drop(&mut self) {
        self.server.settings.store.release(&self.name, &self.owner);
    }
}
