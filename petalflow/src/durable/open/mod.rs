//! Opens a thread for a run: applies an input, answers or a resume to its newest checkpoint.

pub(super) mod answers;
pub(super) mod open_thread;
pub(super) mod opener;
pub(super) mod restored_frontier;
pub(super) mod resume;
pub(super) mod thread_start;
