//! Helpers for testing flows and what they are made of.

pub mod contract;
mod reducer;

pub use contract::StoreUnderTest;
pub use reducer::check_reducer;

#[doc(inline)]
pub use crate::__store_contract as store_contract;
