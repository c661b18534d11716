//! How many effects of `once` are in flight.

use std::collections::HashMap;

use crate::ids::TaskId;

/// The effects of one run that are in flight, with those of its sub-flows.
#[derive(Default)]
pub(super) struct EffectsInFlight {
    /// By the task of this run.
    pub(super) of_tasks: HashMap<TaskId, Count>,
    /// Whether no other effect may begin, because the run ends.
    pub(super) closed: bool,
}

/// The effects of one task.
#[derive(Default)]
pub(super) struct Count {
    /// Those that were called: they wait to begin, run, or are being recorded.
    pub(super) called: usize,
    /// How many of them have begun.
    pub(super) begun: usize,
}

impl EffectsInFlight {
    /// Whether an effect of the task was called and has not ended.
    pub(super) fn is_in_flight(&self, task: TaskId) -> bool {
        self.of_tasks.contains_key(&task)
    }
}
