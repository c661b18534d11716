//! How runs are stopped.

/// How the run of a thread is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Cancel,
    Hold,
    Drain,
}
