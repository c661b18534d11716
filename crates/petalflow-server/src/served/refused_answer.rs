//! The refusal of an answer, which is read when its thread is loaded.

use std::sync::{Arc, Mutex, PoisonError};

use crate::refusal::Refusal;

/// Why the body of an answer was refused. A run has its text only.
#[derive(Clone, Debug, Default)]
pub(super) struct RefusedAnswer(Arc<Mutex<Option<Refusal>>>);

impl RefusedAnswer {
    pub(super) fn set(&self, refusal: Refusal) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
    }

    /// The refusal of the body, or else this one, with which the run has ended.
    pub(super) fn or(&self, other: Refusal) -> Refusal {
        let refusal = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        refusal.unwrap_or(other)
    }
}
