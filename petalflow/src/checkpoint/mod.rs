//! Checkpoints: what a thread needs to go on after a crash, a deploy or a wait, and where it is kept.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] keeps bytes and knows nothing of flows. What the bytes mean is in `docs/reference/checkpoint-format.md`.
//
// `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. A program that stores nothing then compiles
// neither records nor the memory store.

mod archive;
mod checksum;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod memory;
mod outline_line;
mod pending_releases;
mod protection;
mod record;
mod retention;
mod settings;
mod store;

pub use crate::codec::CodecError;
pub(crate) use archive::Archive;
pub use memory::InMemoryStore;
pub(crate) use outline_line::{KeyLine, NodeLine, quoted};
pub use pending_releases::{PendingReleases, ReleaseTurn};
#[cfg(feature = "encrypt")]
pub use protection::Encryption;
pub use protection::Protection;
#[cfg(feature = "sign")]
pub use protection::Signing;
#[cfg(any(feature = "sign", feature = "encrypt"))]
pub use protection::{KeyError, SecretKey};
pub(crate) use record::{
    AnswerEntry, Header, KeyEntry, KeyKind, Outline, OwnedKey, Record, TaskEntry,
};
pub use record::{Cause, DecisionKind, DecisionRecord};
pub use retention::Retention;
pub use settings::{Durability, OnBusy};
pub use store::{
    Address, Claim, Store, StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadInfo,
    ThreadQuery,
};
