//! What a run knows of other threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Store;

/// What a run knows of other threads. The run, its sub-flows and its tasks share it.
#[derive(Default)]
pub struct ThreadLinks {
    is_child: AtomicBool,
    joined: Mutex<Vec<(Arc<dyn Store>, Arc<str>)>>,
}

impl ThreadLinks {
    /// Another thread has started this one.
    pub fn set_child(&self) {
        self.is_child.store(true, Ordering::Relaxed);
    }

    /// Whether another thread has started this one.
    pub fn is_child(&self) -> bool {
        self.is_child.load(Ordering::Relaxed)
    }

    /// A task waits for the end of a thread, which is in this store.
    pub fn join(&self, store: &Arc<dyn Store>, thread: &Arc<str>) {
        let joined = (Arc::clone(store), Arc::clone(thread));
        self.lock().push(joined);
    }

    /// The thread for which a task has waited has ended.
    pub fn leave(&self, thread: &str) {
        self.lock().retain(|(_, joined)| **joined != *thread);
    }

    /// Whether a task waits for a thread.
    pub fn has_joined(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Takes the threads for which tasks wait.
    pub fn take_joined(&self) -> Vec<(Arc<dyn Store>, Arc<str>)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<dyn Store>, Arc<str>)>> {
        // No panic can leave it half-changed.
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
