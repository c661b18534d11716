//! The errors of a memory.

use super::Namespace;
use petalflow::BoxError;

/// An error of a memory.
///
/// ```
/// use petalflow_memory::{InMemory, Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(InMemory::new()).within("users");
/// memory.put("ann", "a gardener").await?;
/// let error = memory.get_as::<u32>("ann").await.unwrap_err();
/// assert!(matches!(error, MemoryError::Type { .. }));
/// assert!(error.to_string().starts_with("`ann` in `users` does not have the requested type"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The backend cannot be reached or cannot write now. The stored entries are not known to be damaged.
    #[error("the memory is not available")]
    Unavailable(#[source] BoxError),
    /// An entry does not have the requested type.
    #[error(
        "`{key}` in `{namespace}` does not have the requested type ({problem}): read it as the type that was stored, or as a `Value`"
    )]
    Type {
        /// The namespace of the entry.
        namespace: Namespace,
        /// The key of the entry.
        key: String,
        /// The mismatch.
        problem: String,
    },
    /// The value cannot be stored.
    #[error("{0}")]
    Refused(String),
    /// The stored entry cannot be read.
    #[error("the entry `{key}` in `{namespace}` is damaged: {problem}")]
    Damaged {
        /// The namespace of the entry.
        namespace: Namespace,
        /// The key of the entry.
        key: String,
        /// The damage.
        problem: String,
    },
    /// The embedding model failed.
    #[error("the embedding model failed")]
    Embedding(#[source] BoxError),
    /// The backend has no vector search.
    #[error("this memory has no vector search: wrap its backend in `VectorIndex`")]
    NoVectors,
    /// Another error.
    #[error("the memory failed")]
    Other(#[source] BoxError),
}
