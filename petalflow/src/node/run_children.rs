//! The threads that the tasks of a run without a store have started: runs of this process, which end with it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::ids::TaskId;

/// How the run of a child has ended: its state, or why it has none.
pub(crate) type ChildEnd = Result<Arc<dyn Any + Send + Sync>, String>;

/// A run that a task has started. Dropping it stops the run.
pub(crate) struct RunChild {
    /// The task that has started it.
    pub(crate) by: TaskId,
    /// `None` in it until the run has ended.
    pub(crate) end: watch::Receiver<Option<ChildEnd>>,
    pub(crate) run: AbortHandle,
}

impl Drop for RunChild {
    fn drop(&mut self) {
        self.run.abort();
    }
}

/// The runs that the tasks of a run, and of its sub-flows, have started, by the ids of their threads.
#[derive(Default)]
pub(crate) struct RunChildren(Mutex<HashMap<String, RunChild>>);

impl RunChildren {
    /// Starts a child, unless this task has started it before. `false` if another task has.
    pub(crate) fn start(&self, id: &str, by: TaskId, start: impl FnOnce() -> RunChild) -> bool {
        let mut children = self.lock();
        if let Some(child) = children.get(id) {
            return child.by == by;
        }
        children.insert(id.into(), start());
        true
    }

    /// The end of a child. `None` if no task has started it.
    pub(crate) fn end_of(&self, id: &str) -> Option<watch::Receiver<Option<ChildEnd>>> {
        self.lock().get(id).map(|child| child.end.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunChild>> {
        // No panic can leave it half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
