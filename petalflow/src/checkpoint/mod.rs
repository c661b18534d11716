//! Checkpoints and the stores for them. A thread resumes from a checkpoint after a crash, a deployment or a pause.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] stores bytes and knows nothing of flows. `docs/reference/checkpoint-format.md` describes the bytes.
//
// `#[inline]` means here, as in `petalflow-graph`, that a function is compiled where it is called. A program that stores
// nothing compiles neither records nor the in-memory store.

mod checksum;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod memory;
mod outline;
mod pending_releases;
mod record;
pub(crate) mod retention;
pub(crate) mod settings;
mod store;
mod thread_storage;
mod write_name;

pub use memory::InMemoryStore;
pub(crate) use outline::{
    GraphOutline, KeyOutline, Line, NodeOutline, Outline, encode_keys, key_lines, quoted,
};
pub use pending_releases::{PendingReleases, ReleaseTurn};
pub use petalflow_codec::CodecError;
pub(crate) use record::{AnswerEntry, Header, KeyEntry, KeyKind, OwnedKey, Record, TaskEntry};
pub use record::{Cause, DecisionKind, DecisionRecord};
pub(crate) use retention::Retention;
pub(crate) use settings::{Durability, OnBusy};
pub use store::{
    Address, Claim, SEALED_MARKER, Store, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
pub(crate) use thread_storage::ThreadStorage;
pub(crate) use write_name::WriteName;
