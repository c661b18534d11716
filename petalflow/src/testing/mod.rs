//! Helpers for testing models and memories.

#[cfg(feature = "llm")]
mod cassette;
#[cfg(feature = "memory")]
pub mod contract;

#[cfg(feature = "llm")]
#[cfg_attr(docsrs, doc(cfg(feature = "llm")))]
pub use cassette::Cassette;
#[cfg(feature = "memory")]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
pub use contract::MemoryUnderTest;

#[cfg(feature = "memory")]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
#[doc(inline)]
pub use crate::__memory_contract as memory_contract;
