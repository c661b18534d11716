//! The error of a value that cannot be encoded or decoded.

use super::depth::MAX_DEPTH;

/// Why a value cannot be encoded or decoded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The `Serialize` implementation of the value failed.
    #[error("the value cannot be stored: {0}")]
    Encode(String),
    /// The bytes are not a value of this type.
    #[error("{0}")]
    Decode(String),
    /// Bytes follow the value.
    #[error("{0} bytes follow the value")]
    Trailing(usize),
    /// The value is nested too deeply.
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    Depth,
    /// A key has neither a value nor a default.
    #[error("no value of the key `{0}` is stored, and it has no default")]
    Missing(&'static str),
    /// The bytes contain a code or a name that this program does not know.
    #[error("{0}")]
    Unknown(String),
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for CodecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
