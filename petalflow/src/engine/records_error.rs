//! Why the records of a thread cannot be read or written.

use crate::checkpoint::{CodecError, StoreError};

/// Why the records of a thread cannot be read or written.
///
/// ```
/// use petalflow::engine::{RecordsError, ThreadRecords};
///
/// let error = ThreadRecords::from_bytes(&[7]).unwrap_err();
/// assert!(matches!(error, RecordsError::Damaged(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The records cannot be understood.
    #[error("the records of the thread are damaged: {0}")]
    Damaged(String),
    /// The store has a thread with this id.
    #[error("the store has a thread `{0}` already: delete it first, or use another id")]
    Exists(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CodecError> for RecordsError {
    fn from(error: CodecError) -> Self {
        RecordsError::Damaged(error.to_string())
    }
}
