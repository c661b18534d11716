//! Why a call of a tool failed.

use crate::BoxError;

/// Why a call of a tool failed. The model reads its message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments do not fit.
    #[error("{0}")]
    Arguments(String),
    /// It took too long.
    #[error("tool `{0}` timed out after {1:?}")]
    Timeout(String, std::time::Duration),
    /// The tool itself failed.
    #[error("{0}")]
    Failed(#[source] BoxError),
}
