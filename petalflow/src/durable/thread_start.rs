//! What a run on a thread begins from.

use std::sync::Arc;

use super::checkpoint_writer::ParentBarrier;
use crate::checkpoint::{Durability, OnBusy, Retention, ThreadStorage};
use crate::exec::BeginGate;
use crate::ids::{Namespace, TaskId};
use crate::interrupt::Resume;
use crate::state::State;
use crate::task_services::Answers;

/// What a run does to a thread.
pub(crate) enum Command<S: State> {
    /// Begins the thread, or a new turn of it.
    Input(S::Input),
    /// Resumes it.
    Resume(Box<Resume<S>>),
}

/// A run on a thread that has not begun yet.
pub(crate) struct ThreadStart<S: State> {
    pub(crate) storage: ThreadStorage,
    pub(crate) namespace: Namespace,
    pub(crate) durability: Durability,
    pub(crate) on_busy: OnBusy,
    pub(crate) command: Command<S>,
    /// Which checkpoints remain when the run has ended.
    pub(crate) retention: Retention,
    /// How many events are stored at least.
    pub(crate) event_log: Option<u64>,
    /// Whether a new input may discard what the thread waits for.
    pub(crate) discard_pending: bool,
    /// Where the run stops once, when it has stored what it begins with.
    pub(crate) gate: Option<Arc<BeginGate<S>>>,
    /// For a sub-flow.
    pub(crate) nested: Option<Nested>,
}

/// The task of the parent flow for which a sub-flow runs.
pub(crate) struct Nested {
    pub(crate) owner: TaskId,
    pub(crate) answers: Arc<Answers>,
    /// The superstep of that task.
    pub(crate) parent: ParentBarrier,
    /// Whether the flow retains its state from one call to the next.
    pub(crate) retains_state: bool,
}
