//! Why a memory could not do what it was asked.

use super::Namespace;
use petalflow::BoxError;

/// Why a memory could not do what it was asked.
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
/// assert!(error.to_string().starts_with("`ann` in `users` is something else than was asked for"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// It cannot be reached or cannot write just now; nothing is known to be wrong with what it holds.
    #[error("the memory is not available")]
    Unavailable(#[source] BoxError),
    /// An entry is not of the type that it was asked for.
    #[error(
        "`{key}` in `{namespace}` is something else than was asked for ({problem}): read it as the type that was put, or as a `Value`"
    )]
    Type {
        /// Where the entry is.
        namespace: Namespace,
        /// Its key.
        key: String,
        /// What does not fit.
        problem: String,
    },
    /// What was to be put cannot be kept.
    #[error("{0}")]
    Refused(String),
    /// What is stored cannot be read.
    #[error("what is stored as `{key}` in `{namespace}` is damaged: {problem}")]
    Damaged {
        /// Where the entry is.
        namespace: Namespace,
        /// Its key.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// Texts could not be turned into vectors.
    #[error("no embedding could be made")]
    Embedding(#[source] BoxError),
    /// This memory cannot search by meaning.
    #[error("this memory has no vectors to search by: wrap its backend in `VectorIndex`")]
    NoVectors,
    /// Something else.
    #[error("the memory failed")]
    Other(#[source] BoxError),
}
