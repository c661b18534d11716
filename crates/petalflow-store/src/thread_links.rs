//! What a run waits for that other runs and programs do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Store;
use super::ids::TaskId;

/// What a run knows of other threads and of messages. The run, its sub-flows and its tasks share it.
#[derive(Default)]
pub struct ThreadLinks {
    is_child: AtomicBool,
    joined: Mutex<Vec<(Arc<dyn Store>, Arc<str>)>>,
    awaited: Mutex<Vec<AwaitedMessage>>,
}

/// A message that a task waits for.
#[derive(Clone)]
pub struct AwaitedMessage {
    pub task: TaskId,
    /// The name in storage of the key that it is for.
    pub key: String,
    pub number: u64,
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

    /// A task waits for a message.
    pub fn await_message(&self, awaited: AwaitedMessage) {
        self.awaited_lock().push(awaited);
    }

    /// A task waits for no message.
    pub fn leave_messages(&self, task: TaskId) {
        self.awaited_lock().retain(|awaited| awaited.task != task);
    }

    /// The messages for which tasks wait.
    pub fn awaited(&self) -> Vec<AwaitedMessage> {
        self.awaited_lock().clone()
    }

    /// Whether a task waits for a message.
    pub fn awaits_messages(&self) -> bool {
        !self.awaited_lock().is_empty()
    }

    fn awaited_lock(&self) -> MutexGuard<'_, Vec<AwaitedMessage>> {
        // No panic can leave it half-changed.
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<dyn Store>, Arc<str>)>> {
        // No panic can leave it half-changed.
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
