//! The runs of this process, for those who follow the events of a thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::watch;

use crate::checkpoint::{Store, ThreadStorage};

/// A handle to a store, and a thread in it. Another handle to the same store has another address: its runs are those of another
/// process.
type Key = (usize, Arc<str>);

/// A run of this process that has claimed its thread. Those who follow the thread are woken when the run has stored events, and
/// when it has ended.
#[derive(Clone)]
pub(crate) struct LiveRun(Arc<Signal>);

struct Signal {
    key: Key,
    /// Changes when events are stored.
    stored: watch::Sender<()>,
}

impl LiveRun {
    /// Registers a run that has claimed its thread.
    pub(super) fn register(store: &Arc<dyn Store>, thread: &Arc<str>) -> Self {
        let key = (address(store), Arc::clone(thread));
        let stored = watch::Sender::new(());
        let signal = Arc::new(Signal { key, stored });
        runs().insert(signal.key.clone(), Arc::downgrade(&signal));
        LiveRun(signal)
    }

    /// Wakes those who follow the thread.
    pub(in crate::durable) fn events_stored(&self) {
        self.0.stored.send_replace(());
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        let mut runs = runs();
        // A later run of the thread has a signal of its own.
        if runs
            .get(&self.key)
            .is_some_and(|run| run.strong_count() == 0)
        {
            runs.remove(&self.key);
        }
    }
}

/// The run of this process that has the thread: changes when it has stored events, and closes when it has ended.
pub(crate) fn live_run(storage: &ThreadStorage) -> Option<watch::Receiver<()>> {
    let key = (address(&storage.store), Arc::clone(&storage.thread));
    // Dropped after the lock: dropping the last handle takes the lock.
    let run = runs().get(&key).and_then(Weak::upgrade)?;
    Some(run.stored.subscribe())
}

fn address(store: &Arc<dyn Store>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

fn runs() -> MutexGuard<'static, HashMap<Key, Weak<Signal>>> {
    static RUNS: OnceLock<Mutex<HashMap<Key, Weak<Signal>>>> = OnceLock::new();
    let runs = RUNS.get_or_init(Mutex::default);
    // No panic can leave it half-changed.
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}
