//! Tells the wakers of this process that a thread has become due.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;

/// The signals of the flows whose threads this process wakes, by the stored name of the flow.
type Signals = HashMap<String, watch::Sender<()>>;

/// Changes when a thread of the flow has become due in this process.
pub(crate) fn due_signal(flow: &str) -> watch::Receiver<()> {
    let mut signals = signals();
    let signal = signals.entry(flow.into()).or_default();
    signal.subscribe()
}

/// A thread of the flow is due. Nothing holds its claim any more.
pub(crate) fn tell_due(flow: &str) {
    if let Some(signal) = signals().get(flow) {
        signal.send_replace(());
    }
}

fn signals() -> MutexGuard<'static, Signals> {
    static SIGNALS: OnceLock<Mutex<Signals>> = OnceLock::new();
    let signals = SIGNALS.get_or_init(Mutex::default);
    // No panic can leave it half-changed.
    signals.lock().unwrap_or_else(PoisonError::into_inner)
}
