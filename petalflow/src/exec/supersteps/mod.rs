//! One superstep: the [`executor`] prepares its tasks, runs them, commits their writes and reports the barrier. A node that
//! is alone and has nothing around it runs in the [`fast_path`].

pub(super) mod barrier;
pub(super) mod commit;
pub(super) mod driver;
pub(super) mod executor;
pub(super) mod fast_path;
mod in_flight;
pub(super) mod interrupt_points;
