//! The results of tasks, as they are stored and read.

pub(super) mod cached;
pub(super) mod task_form;
pub(super) mod task_results;
