//! The clock of the in-memory store.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::now_ms;

/// A clock that shows the system time at which it was made, and goes on with the clock of tokio. So it does not jump, and stands still
/// while the time of a test is paused.
#[derive(Clone)]
pub(super) struct Clock(Arc<(u64, Instant)>);

impl Default for Clock {
    fn default() -> Self {
        Clock(Arc::new((now_ms(), Instant::now())))
    }
}

impl Clock {
    /// The time, in milliseconds since 1970 (UTC).
    pub(super) fn now_ms(&self) -> u64 {
        let (began_ms, began) = *self.0;
        // A timer of tokio fires up to a millisecond late, and never early: what it was set for has come.
        let elapsed = Instant::now().saturating_duration_since(began);
        began_ms.saturating_add(ms(elapsed))
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
