//! One task: its attempts, its future, and what its failure does.

pub(super) mod attempts;
pub(super) mod failure;
pub(super) mod requests;
pub(super) mod task_run;
