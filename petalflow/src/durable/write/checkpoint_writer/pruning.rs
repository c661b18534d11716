//! Removes old checkpoints while the run continues, so that a run that never ends has a bounded history.

use crate::checkpoint::{Retention, StoreError, ThreadStorage};
use crate::durable::write::prune::{FEWEST_BETWEEN_BASES, NewBase, prune};
use crate::outcome::ThreadError;

/// The fewest supersteps, and the fewest bytes of checkpoints, between two prunings.
const FEWEST: (u64, u64) = (FEWEST_BETWEEN_BASES, 1024 * 1024);

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
    /// How many checkpoints this run has encoded, up to two.
    encoded: u8,
}

impl Pruning {
    /// A checkpoint of this superstep is written. Returns whether the thread is pruned first: not before the first checkpoint of a run,
    /// which is what a process that lives for few writes has to store.
    pub(super) fn is_due(&self, superstep: u64) -> bool {
        let Retention { max_bytes, .. } = self.retention;
        let ((pruned, retained), (supersteps, bytes)) = (self.last, FEWEST);
        self.encoded > 1
            && self.retention.is_limited()
            && (superstep >= pruned.saturating_add(retained.max(supersteps))
                || max_bytes.is_some_and(|most| self.bytes >= most.max(bytes)))
    }

    /// Whether a chain of this many checkpoints gets a new base, so that those before can be removed.
    pub(super) fn needs_base(&self, chain: u64) -> bool {
        let (_, retained) = self.last;
        self.retention.is_limited() && chain >= retained.max(FEWEST_BETWEEN_BASES)
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.encoded = self.encoded.saturating_add(1).min(2);
    }

    /// Removes the checkpoints that need not be retained, in all flows of the thread.
    pub(super) async fn prune(
        &mut self,
        storage: &ThreadStorage,
        superstep: u64,
    ) -> Result<(), StoreError> {
        let pruned = prune(storage, self.retention, NewBase::No).await;
        let pruned = pruned.map_err(|error| match error {
            ThreadError::Store(error) => error,
            error => StoreError::Other(error.into()),
        })?;
        self.last = (superstep, pruned.retained);
        self.bytes = 0;
        Ok(())
    }
}
