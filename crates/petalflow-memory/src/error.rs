//! The errors of a memory.

use super::Namespace;
use petalflow::BoxError;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use petalflow::checkpoint::StoreError;
use petalflow::error::message_with_sources;

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
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The backend cannot be reached or cannot write now. The stored entries are not known to be damaged.
    #[error("the memory is not available: {}", message_with_sources(&**.0))]
    Unavailable(BoxError),
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
    #[error("the embedding model failed: {}", message_with_sources(&**.0))]
    Embedding(BoxError),
    /// The backend has no vector search.
    #[error("this memory has no vector search: wrap its backend in `VectorIndex`")]
    NoVectors,
    /// Another error.
    #[error("the memory failed: {}", message_with_sources(&**.0))]
    Other(BoxError),
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for MemoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&message_with_sources(self))
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl From<StoreError> for MemoryError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(why) => MemoryError::Unavailable(why),
            StoreError::Other(why) => MemoryError::Other(why),
            other => MemoryError::Other(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn texts_are_said_once() {
        let disk = || Box::new(std::io::Error::other("the disk is full"));
        check_texts(&MemoryError::Unavailable(disk()));
        check_texts(&MemoryError::Embedding(disk()));
        check_texts(&MemoryError::Other(disk()));
        check_texts(&MemoryError::Refused("too large".into()));
        check_texts(&MemoryError::NoVectors);
    }
}
