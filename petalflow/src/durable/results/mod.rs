//! The results of tasks, as they are stored and read.

pub(super) mod cached;
#[cfg(feature = "engine")]
pub(super) mod result_codec;
pub(super) mod task_results;
