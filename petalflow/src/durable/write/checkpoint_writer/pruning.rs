//! Removes old checkpoints while the run continues, so that a run that never ends has a bounded history.

use crate::checkpoint::{Retention, StoreError, ThreadStorage};
use crate::durable::write::prune::prune;
use crate::outcome::ThreadError;

/// The fewest supersteps, and the fewest bytes of checkpoints, between two prunings.
const FEWEST: (u64, u64) = (64, 1024 * 1024);

/// When the thread is pruned again.
///
/// A pruning reads what it retains. So there are at least as many supersteps between two of them.
#[derive(Default)]
pub(super) struct Pruning {
    /// Which checkpoints remain while the run continues.
    pub(super) retention: Retention,
    /// The superstep and the number of retained checkpoints at the last pruning.
    last: (u64, u64),
    /// The bytes that were written since.
    bytes: u64,
}

impl Pruning {
    /// A checkpoint of this superstep is written. Returns whether the thread is pruned first.
    pub(super) fn is_due(&self, superstep: u64) -> bool {
        let Retention { max_bytes, .. } = self.retention;
        let ((pruned, retained), (supersteps, bytes)) = (self.last, FEWEST);
        self.retention != Retention::ALL
            && (superstep >= pruned.saturating_add(retained.max(supersteps))
                || max_bytes.is_some_and(|most| self.bytes >= most.max(bytes)))
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Removes the checkpoints that need not be retained, in all flows of the thread.
    pub(super) async fn prune(
        &mut self,
        storage: &ThreadStorage,
        superstep: u64,
    ) -> Result<(), StoreError> {
        let retained = prune(storage, self.retention).await;
        let retained = retained.map_err(|error| match error {
            ThreadError::Store(error) => error,
            error => StoreError::Other(error.into()),
        })?;
        self.last = (superstep, retained);
        self.bytes = 0;
        Ok(())
    }
}
