//! One superstep: on the fast path, as a single stored task, or in the parallel executor; its commit and its barrier.

pub(super) mod barrier;
pub(super) mod commit;
pub(super) mod driver;
pub(super) mod failure;
pub(super) mod fast_path;
pub(super) mod interrupt_points;
pub(super) mod parallel;
pub(super) mod single;
pub(super) mod slab;
pub(super) mod stored_steps;

/// The types that [`slab`] uses. Its test with `loom` has others.
mod sync {
    pub(super) use std::sync::{Mutex, MutexGuard, atomic::AtomicBool};
}
