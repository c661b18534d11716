//! Checkpoints: what a thread needs to go on after a crash, a deploy or a wait, and where it is kept.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] keeps bytes and knows nothing of flows. What the bytes mean is in `docs/checkpoint-format.md`.

mod archive;
mod bytes;
mod codec;
mod depth;
mod memory;
mod protection;
mod record;
mod store;

pub(crate) use bytes::Bytes;
pub use codec::CodecError;
pub(crate) use codec::{decode, encode};

pub use crate::upgrade::{Migration, MigrationError};
pub(crate) use archive::Archive;
pub use memory::MemoryStore;
pub use protection::Protection;
pub(crate) use record::{AnswerEntry, Header, KeyEntry, KeyKind, Outline, Record, TaskEntry};
pub use record::{Cause, Note};
pub use store::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
