//! Retries in settings.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Period;
use petalflow::policy::Retry;

/// Retries in settings. The delay before attempt `n + 1` is `n` times the backoff.
///
/// ```
/// use petalflow_documents::Period;
/// use petalflow_documents::kinds::RetryConfig;
/// use std::time::Duration;
///
/// let retry = RetryConfig::default();
/// assert_eq!((retry.max_attempts, retry.backoff), (3, Period(Duration::from_secs(1))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryConfig {
    /// The number of attempts. The default is 3. Zero means one.
    pub max_attempts: u32,
    /// The delay after the first attempt. The default is one second.
    pub backoff: Period,
}

impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig {
            max_attempts: 3,
            backoff: Period(Duration::from_secs(1)),
        }
    }
}

impl RetryConfig {
    pub(super) fn policy(self) -> Retry {
        Retry::attempts(self.max_attempts.max(1))
            .first(self.backoff.0)
            .linear()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p026_three_attempts_a_second_apart() {
        let delays: Vec<_> = RetryConfig::default().policy().waits().collect();
        assert_eq!(delays, [1, 2].map(Duration::from_secs));
    }
}
