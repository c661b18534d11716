//! What the steps of one run share: the permits of its tools, and the usage that no step has written yet.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::limits::{CallLimits, Meter, Share, Usage};
use petalflow::Context;

/// What the steps of one run share. It is not stored.
#[derive(Default)]
pub(crate) struct RunResources {
    /// The permits for the tools that run at once.
    permits: OnceLock<Semaphore>,
    /// The usage of called agents that still work.
    meter: OnceLock<Arc<Meter>>,
    /// The calls of agents whose usage the conversation contains at its next model call.
    finished_calls: Mutex<Vec<u64>>,
    /// The usage of the current step that is not written: by attempts that failed, and by earlier requests.
    unwritten: Mutex<Usage>,
}

impl RunResources {
    /// The part of a called agent in the meter: of a call in this context, whose earlier run has used `before`. The caller has
    /// the part `share`, if it is a called agent itself, and has used `committed`.
    pub(crate) fn share_of_call(
        &self,
        share: Option<&Share>,
        committed: Usage,
        before: Usage,
        cx: &Context,
        limits: CallLimits,
    ) -> Share {
        let meter = match share {
            Some(share) => share.meter(),
            None => self.meter.get_or_init(Arc::default),
        };
        if let Some(share) = share {
            share.set(committed, Usage::default());
        }
        let share = Share::new(meter, share, committed, before, cx, limits);
        lock(&self.finished_calls).push(share.number());
        share
    }

    /// The calls that have finished: the conversation contains what they have used.
    pub(crate) fn take_finished_calls(&self) -> Vec<u64> {
        std::mem::take(&mut *lock(&self.finished_calls))
    }

    /// Removes finished calls from the meter of this conversation. A called agent has none, because it uses that of its caller.
    pub(crate) fn remove_finished_calls(&self) {
        let finished = self.take_finished_calls();
        if let Some(meter) = self.meter.get() {
            meter.remove(&finished);
        }
    }

    /// The usage of the current step that is not written: by attempts that failed, and by earlier requests.
    pub(crate) fn unwritten(&self) -> MutexGuard<'_, Usage> {
        lock(&self.unwritten)
    }

    /// Waits until another of at most `tools` tools may run.
    pub(crate) async fn permit(&self, tools: usize) -> Option<SemaphorePermit<'_>> {
        let permits = self.permits.get_or_init(|| Semaphore::new(tools));
        // The semaphore is never closed.
        permits.acquire().await.ok()
    }
}

/// The values are consistent at every point, so a panic does not invalidate them.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clone is empty, because another run continues with it.
impl Clone for RunResources {
    fn clone(&self) -> Self {
        RunResources::default()
    }
}

impl fmt::Debug for RunResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResources").finish_non_exhaustive()
    }
}
