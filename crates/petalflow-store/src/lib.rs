//! Internal to petalflow: its stores, and what is known of a thread without the program that runs it. Depend on
//! `petalflow`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`codec`] | the records of checkpoints, outlines of programs, and values as MessagePack |
//! | [`ids`] | the names of tasks, questions and nested flows |
//! | `store`, `thread_storage`, `run_claim` | the [`Store`] trait, and a thread in a store |
//! | `memory` | the in-memory store |
//! | [`retention`], [`settings`] | what is stored, when, and for how long |
//! | [`migration`] | stored threads of an older version of a state |
//! | `question` | questions of threads, and their answers |
//! | [`upgrade`] | what a changed program may do with stored threads |
//!
//! A run is not part of it: nothing here knows a state or a flow.
#![forbid(unsafe_code)]

// Modules that are hidden have no interface for users of `petalflow`.
mod attribute;
pub mod clock;
pub mod codec;
pub mod document_version;
pub mod error;
pub mod ids;
mod json;
mod memory;
pub mod migration;
mod pending_releases;
#[doc(hidden)]
pub mod question;
pub mod retention;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only `petalflow` uses it")]
mod run_claim;
pub mod settings;
mod shared_store;
mod store;
mod store_error;
mod thread_info;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only `petalflow` uses it")]
mod thread_links;
mod thread_query;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only `petalflow` uses it")]
mod thread_storage;
#[doc(hidden)]
pub mod upgrade;
#[doc(hidden)]
mod write_name;

use std::future::Future;
use std::pin::Pin;

pub use attribute::{
    Attribute, AttributeCondition, AttributeConditionError, AttributeKind, AttributeTest,
    AttributeValue,
};
pub use memory::InMemoryStore;
pub use pending_releases::PendingReleases;
pub use run_claim::{Moment, RunClaim};
pub use store::{
    Address, Claim, SEALED_MARKER, Store, StoreChange, Stored, StoredCheckpoint, StoredWrite,
};
pub use store_error::StoreError;
pub use thread_info::{ThreadChange, ThreadInfo, ThreadStatus};
pub use thread_links::{AwaitedMessage, ThreadLinks};
pub use thread_query::{ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery};
pub use thread_storage::{EVENT_LOG, INBOX, LINKS, STOPS, ThreadStorage, inbox_of, is_inbox};
pub use write_name::WriteName;

/// A boxed future that can move between threads.
///
/// ```
/// use petalflow::middleware::BoxFuture;
///
/// fn later(n: u32) -> BoxFuture<'static, u32> {
///     Box::pin(async move { n + 1 })
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(later(1).await, 2);
/// # }
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
