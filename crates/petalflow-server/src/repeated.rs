//! Work that is repeated after a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When work was done last in this process.
#[derive(Debug)]
pub(crate) struct Repeated {
    interval: Duration,
    last: Mutex<Option<Instant>>,
}

impl Repeated {
    /// Work that is done now, and again after each interval.
    pub(crate) fn every(interval: Duration) -> Self {
        Repeated {
            interval,
            last: Mutex::default(),
        }
    }

    /// Whether it is time to do it. Who asks does it.
    pub(crate) fn is_due(&self) -> bool {
        let mut last = self.last();
        let is_due = last.is_none_or(|at| at.elapsed() >= self.interval);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }

    /// Makes it due.
    pub(crate) fn do_next(&self) {
        *self.last() = None;
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
