//! Resumes or begins a thread: loads its newest checkpoint and applies an input, or answers, decisions and updates.

pub(super) mod apply_resume;
pub(super) mod document;
pub(super) mod open_thread;
pub(super) mod opener;
pub(super) mod restored_frontier;
pub(super) mod thread_start;
mod undo_turn;
