//! One task: its attempts, its future, and what it asks for while it runs.

pub(super) mod attempt;
pub(super) mod requests;
pub(super) mod task_run;
