//! The moment at which a task that sleeps runs again.

use std::time::Duration;

use tokio::time::Instant;

/// The longest time of a timer, which is shorter than what an `Instant` can hold. A run that lasts longer looks again.
const LONGEST_TIMER: Duration = Duration::from_hours(365 * 24);

/// When a task that sleeps runs again.
#[derive(Clone, Copy)]
pub(super) struct Wake {
    /// The end of the first of its sleeps, in milliseconds since 1970 (UTC), by the clock of the store.
    pub(super) at_ms: u64,
    /// The same by the clock of tokio, which does not jump.
    pub(super) at: Instant,
}

impl Wake {
    pub(super) fn new(at_ms: u64, now_ms: u64) -> Self {
        let wait = Duration::from_millis(at_ms.saturating_sub(now_ms));
        Wake {
            at_ms,
            at: Instant::now() + wait.min(LONGEST_TIMER),
        }
    }

    pub(super) fn is_due(self) -> bool {
        self.at <= Instant::now()
    }
}
