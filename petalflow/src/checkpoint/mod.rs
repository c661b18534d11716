//! Checkpoints: what a thread needs to go on after a crash, a deploy or a wait, and where it is kept.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] keeps bytes and knows nothing of flows. What the bytes mean is in `docs/checkpoint-format.md`.
//
// `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. A program that stores nothing then compiles
// neither records nor the memory store.

mod archive;
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
mod explained;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod memory;
mod outline_line;
#[cfg(feature = "postgres")]
mod postgres;
mod protection;
mod record;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod release;
mod retention;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod server;
mod settings;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod store;

pub use crate::codec::CodecError;
pub(crate) use archive::Archive;
pub use memory::InMemoryStore;
pub(crate) use outline_line::{KeyLine, NodeLine, quoted};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
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
pub use record::{Cause, DecisionRecord};
#[cfg(feature = "redis")]
pub use redis::{RedisOptions, RedisStore};
pub use retention::Retention;
pub use settings::{Durability, OnBusy};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use sqlite::{SqliteOptions, SqliteStore, Synchronous};
pub use store::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
