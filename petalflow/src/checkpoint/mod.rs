//! Checkpoints: what a thread needs to go on after a crash, a deploy or a wait, and where it is kept.
//!
//! The promise: *a node runs at least once; its recorded effect is applied exactly once.*
//!
//! A [`Store`] keeps bytes and knows nothing of flows. What the bytes mean is in `docs/checkpoint-format.md`.

mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod release;
mod store;

pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
#[cfg(feature = "redis")]
pub use redis::{RedisOptions, RedisStore};
pub use store::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
