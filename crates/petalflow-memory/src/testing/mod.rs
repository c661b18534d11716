//! The contract of a [`MemoryBackend`](crate::MemoryBackend), as tests for any backend.
//!
//! [`memory_contract!`] generates a test for each case in [`cases`].
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "each case panics where the contract is broken, and gives an error where the backend fails"
)]

pub mod cases;
mod memory_contract;
mod subject;

pub use subject::{Memories, MemoryUnderTest, run};

#[doc(hidden)]
pub use petalflow::BoxError;

#[doc(inline)]
pub use crate::__memory_contract as memory_contract;
