//! Checkpoints and the stores for them. A thread resumes from a checkpoint after a crash, a deployment or a pause.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] stores bytes and knows nothing of flows. `docs/reference/checkpoint-format.md` describes the bytes.
//
// `#[inline]` means here, as in `petalflow-graph`, that a function is compiled where it is called. A program that stores
// nothing does not compile the in-memory store.

mod lease;
mod memory;
mod pending_releases;
pub(crate) mod retention;
pub(crate) mod settings;
mod shared_store;
mod store;
mod thread_info;
mod thread_storage;
mod write_name;

pub(crate) use lease::{Lease, Moment};
pub use memory::InMemoryStore;
pub use pending_releases::PendingReleases;
pub(crate) use petalflow_codec::{
    AnswerEntry, GraphOutline, Header, KeyEntry, KeyKind, KeyOutline, Line, NodeOutline, Outline,
    OwnedKey, Record, TaskEntry, encode_keys, key_lines, quoted,
};
pub use petalflow_codec::{Cause, CodecError, DecisionKind, DecisionRecord};
pub(crate) use retention::Retention;
pub(crate) use settings::{Durability, OnBusy};
pub use store::{
    Address, Claim, SEALED_MARKER, Store, StoreError, Stored, StoredCheckpoint, StoredWrite,
};
pub use thread_info::{ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus};
pub(crate) use thread_storage::{EVENT_LOG, ThreadStorage};
pub(crate) use write_name::WriteName;
