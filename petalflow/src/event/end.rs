//! The end of a run, as it is stored among its events.

use crate::question::Interrupt;

/// The end of a run.
pub(crate) struct RunEnd<'a> {
    pub(crate) kind: &'static str,
    pub(crate) superstep: u64,
    pub(crate) interrupts: &'a [Interrupt],
    pub(crate) error: Option<String>,
    /// Why a run that has not failed by itself has ended: `cancelled` or `drained`.
    pub(crate) reason: Option<&'static str>,
    /// When a run that is paused can continue although nobody answers, in milliseconds since 1970 (UTC).
    pub(crate) wakes_ms: Option<u64>,
}

impl RunEnd<'_> {
    pub(crate) fn new(kind: &'static str, superstep: u64) -> Self {
        RunEnd {
            kind,
            superstep,
            interrupts: &[],
            error: None,
            reason: None,
            wakes_ms: None,
        }
    }
}
