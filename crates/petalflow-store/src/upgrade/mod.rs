//! The comparison of a changed program with the program that stored a thread.
//!
//! The [`Outline`](crate::codec::Outline) of a program lists its keys, nodes, edges and joins. A checkpoint contains
//! the outline of the program that wrote it, and `flow.lock` contains the outline that was last accepted, with the fields
//! of the values (`fields`). `changes` compares two outlines, and `outline` makes that of a graph. Each [`Change`] tells which threads it breaks.

mod changes;
mod fields;
mod lock;
mod outline;
mod reads;

pub use changes::{Change, InUse, difference, graph_changes, key_changes};
pub use lock::{LockFile, Locked, check_lock};
pub use outline::{JoinName, graph_outline, unqualified};
pub use reads::reads;
