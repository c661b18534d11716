//! The last activity of an attempt, for its idle timeout.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time of the last activity of an attempt: a [`Context::heartbeat`](crate::Context::heartbeat) or an emitted
/// value.
#[derive(Debug)]
pub(crate) struct LastActivity(Mutex<Instant>);

impl LastActivity {
    pub(crate) fn new() -> Self {
        LastActivity(Mutex::new(Instant::now()))
    }

    /// Records activity.
    pub(crate) fn touch(&self) {
        *self.lock() = Instant::now();
    }

    /// Completes after this long without activity.
    pub(crate) async fn idle_for(&self, idle: Duration) {
        loop {
            let last = *self.lock();
            // Not `last + idle`: `sleep` accepts each duration.
            tokio::time::sleep(idle.saturating_sub(last.elapsed())).await;
            if *self.lock() == last {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Instant> {
        // The lock guards one plain value, which a panic cannot leave inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
