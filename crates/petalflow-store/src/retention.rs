//! The number, age and size of checkpoints that a thread retains, and whether it retains the results of tasks.

use std::time::Duration;

/// How many of a thread's checkpoints are retained. Limits that are not set do not apply.
///
/// The newest checkpoint is always retained, together with the checkpoints that are needed to read the retained ones.
///
/// ```
/// use petalflow::thread::Retention;
/// use std::time::Duration;
///
/// let retention = Retention::max_checkpoints(100).max_age(Duration::from_secs(30 * 24 * 60 * 60));
/// # let _ = retention;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    #[doc(hidden)]
    pub max_checkpoints: Option<usize>,
    #[doc(hidden)]
    pub max_age: Option<Duration>,
    #[doc(hidden)]
    pub max_bytes: Option<u64>,
    #[doc(hidden)]
    pub results: bool,
}

impl Retention {
    /// Retains all checkpoints.
    pub const ALL: Self = Retention {
        max_checkpoints: None,
        max_age: None,
        max_bytes: None,
        results: false,
    };

    /// Retains at most this many checkpoints of each flow of the thread: the newest ones.
    #[must_use]
    pub fn max_checkpoints(checkpoints: usize) -> Self {
        Retention {
            max_checkpoints: Some(checkpoints),
            ..Retention::ALL
        }
    }

    /// Retains only checkpoints that are younger than `age`.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// Retains the newest checkpoints of each flow whose sizes add up to at most this many bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Retains the results of tasks, too: of each superstep whose checkpoint is retained, what each task returned, the results of its
    /// effects, and its questions. Otherwise they are removed when their superstep is committed, because no run needs them any more.
    ///
    /// With them a thread can be replayed as a test: see `Replay` in `petalflow-testing`. A superstep costs no other access to the
    /// store, and the bytes of its results. What was committed before has no results.
    ///
    /// ```
    /// use petalflow::thread::Retention;
    ///
    /// let retention = Retention::max_checkpoints(1_000).with_results();
    /// assert_ne!(retention, Retention::max_checkpoints(1_000));
    /// ```
    #[must_use]
    pub fn with_results(mut self) -> Self {
        self.results = true;
        self
    }

    /// Whether some checkpoints are not retained.
    #[doc(hidden)]
    pub fn is_limited(self) -> bool {
        self.max_checkpoints.is_some() || self.max_age.is_some() || self.max_bytes.is_some()
    }

    /// Whether a checkpoint is retained. `newer` is the number of newer checkpoints, `bytes` the size of those and of the
    /// checkpoint itself, and `age` its age.
    #[doc(hidden)]
    pub fn covers(self, newer: usize, bytes: u64, age: Duration) -> bool {
        newer == 0
            || self.max_checkpoints.is_none_or(|limit| newer < limit)
                && self.max_bytes.is_none_or(|limit| bytes <= limit)
                && self.max_age.is_none_or(|limit| age < limit)
    }
}
