//! The number of the newest superstep, which the last event of a run has.

use std::sync::atomic::{AtomicU64, Ordering};

use super::AnyEvent;
use crate::ids::Namespace;

/// The superstep of the newest event that is not one of a sub-flow. 0 before the first superstep.
#[derive(Default)]
pub(crate) struct NewestSuperstep(AtomicU64);

impl NewestSuperstep {
    pub(super) fn update(&self, event: &AnyEvent) {
        if event.namespace == Namespace::ROOT {
            // The run has sent all its events before it ends, and its end reads the number.
            self.0.store(event.superstep, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
