//! The supersteps of a flow of a stored thread.

use crate::checkpoint::Cause;
use crate::thread_file::{FileCheckpoint, FileFlow};

/// A frontier of a thread, and what followed.
#[derive(Clone, Copy)]
pub(super) struct Step<'f> {
    /// The newest checkpoint before its tasks ended: it has the answers to their questions.
    pub(super) start: &'f FileCheckpoint,
    /// The checkpoint with which the superstep was committed. `None` if it was not, or if the thread was edited, forked or got an input
    /// before.
    pub(super) committed: Option<&'f FileCheckpoint>,
    /// Whether the thread ends with it.
    pub(super) is_last: bool,
}

/// The frontiers of a thread.
pub(super) fn steps(own: &FileFlow) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let origin = |checkpoint: &FileCheckpoint| checkpoint.record.header.origin;
    for (index, start) in own.checkpoints.iter().enumerate() {
        let next = own.checkpoints.get(index + 1);
        if next.is_some_and(|next| origin(next) == origin(start)) {
            continue;
        }
        let follows = |next: &&FileCheckpoint| {
            let header = &next.record.header;
            header.cause == Cause::Superstep && header.parent == Some(start.seq)
        };
        steps.push(Step {
            start,
            committed: next.filter(follows),
            is_last: next.is_none(),
        });
    }
    steps
}
