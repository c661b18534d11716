//! How much of a run is in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of a run is in the store: the frontiers below this number.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredMark(Arc<AtomicU64>);

impl StoredMark {
    /// The frontier of this origin, and all before it, are in the store.
    pub(crate) fn set(&self, origin: u64) {
        self.0.store(origin + 1, Ordering::Release);
    }

    pub(super) fn covers(&self, origin: u64) -> bool {
        self.0.load(Ordering::Acquire) > origin
    }
}
