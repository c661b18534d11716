//! Checkpoints: what a thread needs to go on after a crash, a deploy or a wait, and where it is kept.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] keeps bytes and knows nothing of flows. What the bytes mean is in `docs/checkpoint-format.md`.

mod codec;
mod depth;
mod memory;
mod store;

pub use codec::CodecError;
pub(crate) use codec::{decode, encode};

pub use memory::MemoryStore;
pub use store::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
