//! The contract of [`Store`](petalflow::checkpoint::Store), as tests that any store can be held to.
//!
//! [`store_contract!`](crate::store_contract) makes a test of each case here. A case is a public function, so that
//! one of them can also be run by itself, in a debugger or a loop:
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
//! A case that fails says what the contract demands. What petalflow itself does with the bytes (C94's copies, C95) is not
//! the stores' business and tested elsewhere.
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "each case panics where the contract is broken, and gives an error where the store fails"
)]

pub mod appends;
pub mod claims;
pub mod concurrency;
mod given;
pub mod names;
mod pool;
pub mod reads;
pub mod removal;
mod store_contract;
mod subject;
pub mod threads;
pub mod writes;

pub use pool::at_once;
pub use subject::{Handles, Outcome, StoreUnderTest, Stores, UnderTest, run};
