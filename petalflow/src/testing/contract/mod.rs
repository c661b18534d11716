//! The contract of a memory's backend, as tests that any backend can be held to.
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "each case panics where the contract is broken, and gives an error where the backend fails"
)]

pub mod memory;
mod memory_contract;
mod pool;
mod subject;

pub use subject::{Handles, Memories, MemoryUnderTest, Outcome, UnderTest, run};
