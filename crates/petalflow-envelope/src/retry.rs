//! The retry policy of the nodes over an envelope.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of attempts and the waits between them. Each wait is longer than the one before.
///
/// ```
/// use petalflow_envelope::RetryPolicy;
/// use std::time::Duration;
///
/// let policy = RetryPolicy::default();
/// assert_eq!(policy.attempts, 3);
/// assert_eq!(policy.wait_after(1), Duration::from_secs(1));
/// assert_eq!(policy.wait_after(2), Duration::from_secs(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// The maximum number of attempts. 0 counts as 1.
    pub attempts: u32,
    /// The wait after the first attempt. After the second it is twice as long, after the third three times.
    pub backoff: Duration,
}

impl Default for RetryPolicy {
    /// Three attempts, one second.
    fn default() -> Self {
        RetryPolicy {
            attempts: 3,
            backoff: Duration::from_secs(1),
        }
    }
}

impl RetryPolicy {
    /// A single attempt.
    pub const ONCE: Self = RetryPolicy {
        attempts: 1,
        backoff: Duration::ZERO,
    };

    /// Returns the wait after this attempt. Attempts count from 1.
    pub fn wait_after(&self, attempt: u32) -> Duration {
        self.backoff.saturating_mul(attempt)
    }
}
