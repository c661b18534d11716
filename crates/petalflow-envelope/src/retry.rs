//! How often the nodes over an envelope try.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How often something is tried, and how long is waited in between: a little longer each time.
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
    /// Attempts in all; 0 counts as 1.
    pub attempts: u32,
    /// The wait after the first attempt; after the second it is twice as long, after the third three times.
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
    /// Never tries again.
    pub const ONCE: Self = RetryPolicy {
        attempts: 1,
        backoff: Duration::ZERO,
    };

    /// How long to wait after this attempt, from 1.
    pub fn wait_after(&self, attempt: u32) -> Duration {
        self.backoff.saturating_mul(attempt)
    }
}
