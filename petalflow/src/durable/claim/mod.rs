//! Gives one run at a time the right to change a thread.

pub(super) mod answered;
pub(super) mod due_signal;
pub(super) mod live_runs;
pub(super) mod stop;
pub(super) mod thread_claim;
