//! The contract of [`Store`](petalflow::checkpoint::Store), as tests for any store.
//!
//! [`store_contract!`](crate::store_contract) makes a test of each case here. A case is a public function, so that
//! one of them can also run by itself, in a debugger or a loop:
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow_testing::{StoreUnderTest, contract};
//!
//! contract::run(
//!     async || Ok(StoreUnderTest::new(InMemoryStore::new())),
//!     contract::reads::c92_an_unknown_thread_has_no_checkpoint,
//! );
//! ```
//!
//! A case that fails prints what the contract requires. What petalflow itself does with the bytes is tested elsewhere.
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "each case panics where the contract is broken, and gives an error where the store fails"
)]

pub mod amounts;
pub mod appends;
pub mod attributes;
pub mod batches;
pub mod bounds;
pub mod claims;
pub mod concurrency;
pub mod descriptions;
pub mod dropped;
pub mod events;
pub mod fences;
pub mod index;
pub mod names;
pub mod prefixes;
pub mod pruned;
pub mod reads;
pub mod removal;
mod samples;
mod store_contract;
pub mod takeover;
pub mod threads;
mod threads_at_once;
mod under_test;
pub mod writes;

pub use threads_at_once::at_once;
pub use under_test::{CaseResult, Handles, StoreUnderTest, Stores, UnderTest, run, run_within};
