//! What a changed program may do with what an older one has stored.
//!
//! Each program has an [`Outline`](crate::checkpoint::Outline): a line for each key, node, edge and join. Checkpoints carry
//! the outline of the program that wrote them, `flow.lock` carries the one that was last accepted, and [`changes`] compares
//! them. What it finds strands every thread, some threads or none: [`Held`] says what a thread holds.
//!
//! `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Only programs that store anything call any
//! of this.

mod changes;
mod lock;
mod reads;

pub(crate) use changes::{Change, Held, InUse, changes, difference};
pub use lock::FlowLock;
pub(crate) use lock::{Locked, check_lock};
