//! Helpers for testing memories.

#[cfg(feature = "memory")]
pub mod contract;

#[cfg(feature = "memory")]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
pub use contract::MemoryUnderTest;

#[cfg(feature = "memory")]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
#[doc(inline)]
pub use crate::__memory_contract as memory_contract;
