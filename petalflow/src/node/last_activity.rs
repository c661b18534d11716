//! Signs of life of one attempt, for the idle timeout.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The last sign of life.
#[derive(Debug)]
pub(crate) struct LastActivity(Mutex<Instant>);

impl LastActivity {
    pub(crate) fn new() -> Self {
        LastActivity(Mutex::new(Instant::now()))
    }

    pub(crate) fn beat(&self) {
        *self.last_mut() = Instant::now();
    }

    /// Completes when there has been no sign of life for this long.
    pub(crate) async fn stopped(&self, idle: Duration) {
        loop {
            let last = *self.last_mut();
            tokio::time::sleep_until(last + idle).await;
            if *self.last_mut() == last {
                return;
            }
        }
    }

    fn last_mut(&self) -> std::sync::MutexGuard<'_, Instant> {
        // The lock guards one plain value, which a panic cannot leave half-written.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
