//! Reads and changes a thread without a run: snapshots, edits, forks and copies.

mod held;
pub(super) mod history;
#[cfg(feature = "engine")]
pub(super) mod replayed;
pub(super) mod stopping;
pub(super) mod store_copy;
pub(super) mod stored_snapshot;
pub(super) mod subflow_history;
pub(super) mod thread_ops;
pub(super) mod verify;
pub(super) mod waiting;
