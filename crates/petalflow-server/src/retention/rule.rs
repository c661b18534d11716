//! Which finished threads of a flow are kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which finished threads of a flow are kept: how old they may be, and how many. A thread that one of the two does not keep is deleted
/// with its history. Without both, all are kept. See [`ServerBuilder::thread_retention`](crate::ServerBuilder::thread_retention).
///
/// ```
/// use petalflow_server::ThreadRetention;
/// use std::time::Duration;
///
/// let month = Duration::from_secs(30 * 86_400);
/// let retention = ThreadRetention::new().max_age(month).max_threads(10_000);
/// assert_ne!(retention, ThreadRetention::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThreadRetention {
    max_age_seconds: Option<u64>,
    max_threads: Option<u64>,
}

impl ThreadRetention {
    /// Keeps all threads.
    ///
    /// ```
    /// use petalflow_server::ThreadRetention;
    ///
    /// assert_eq!(ThreadRetention::new(), ThreadRetention::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps threads that have changed within this time, in whole seconds.
    ///
    /// ```
    /// use petalflow_server::ThreadRetention;
    /// use std::time::Duration;
    ///
    /// let retention = ThreadRetention::new().max_age(Duration::from_secs(86_400));
    /// # let _ = retention;
    /// ```
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age_seconds = Some(age.as_secs());
        self
    }

    /// Keeps at most this many threads: those that have changed last.
    ///
    /// ```
    /// use petalflow_server::ThreadRetention;
    ///
    /// let retention = ThreadRetention::new().max_threads(10_000);
    /// # let _ = retention;
    /// ```
    #[must_use]
    pub fn max_threads(mut self, threads: u64) -> Self {
        self.max_threads = Some(threads);
        self
    }

    /// The time before which threads have changed that are not kept.
    pub(crate) fn oldest_ms(self, now_ms: u64) -> Option<u64> {
        let age_ms = self.max_age_seconds?.saturating_mul(1_000);
        Some(now_ms.saturating_sub(age_ms))
    }

    /// How many of so many threads are not kept.
    pub(crate) fn excess(self, threads: u64) -> u64 {
        self.max_threads
            .map_or(0, |most| threads.saturating_sub(most))
    }

    /// Whether all threads are kept.
    pub(crate) fn keeps_all(self) -> bool {
        self == Self::default()
    }

    /// Whether the number of threads counts.
    pub(crate) fn counts(self) -> bool {
        self.max_threads.is_some()
    }
}
