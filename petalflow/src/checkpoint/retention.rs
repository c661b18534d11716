//! How much of a thread's past is kept.

use std::time::Duration;

/// How much of a thread's past is kept. The newest checkpoint always is, and so is what is needed to read those that are
/// kept; what is left out does not limit.
///
/// ```
/// use petalflow::thread::Retention;
/// use std::time::Duration;
///
/// let keep = Retention::last(100).younger_than(Duration::from_secs(30 * 24 * 60 * 60));
/// # let _ = keep;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    pub(crate) last: Option<usize>,
    pub(crate) age: Option<Duration>,
    pub(crate) bytes: Option<u64>,
}

impl Retention {
    /// Everything.
    pub const ALL: Self = Retention {
        last: None,
        age: None,
        bytes: None,
    };

    /// The newest so many checkpoints of each flow of the thread.
    #[must_use]
    #[inline]
    pub fn last(checkpoints: usize) -> Self {
        Retention {
            last: Some(checkpoints),
            ..Retention::ALL
        }
    }

    /// Only what is younger.
    #[must_use]
    #[inline]
    pub fn younger_than(mut self, age: Duration) -> Self {
        self.age = Some(age);
        self
    }

    /// The newest checkpoints of each flow that together have so many bytes.
    #[must_use]
    #[inline]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Whether a checkpoint is kept: how many are newer, how many bytes those and itself have, how old it is.
    #[inline]
    pub(crate) fn covers(self, newer: usize, bytes: u64, age: Duration) -> bool {
        newer == 0
            || self.last.is_none_or(|last| newer < last)
                && self.bytes.is_none_or(|limit| bytes <= limit)
                && self.age.is_none_or(|limit| age < limit)
    }
}
