//! Why bytes and values do not fit.

use super::depth::DEPTH;

/// Why bytes and values do not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The value's own serialization failed.
    #[error("the value cannot be stored: {0}")]
    Encode(String),
    /// The bytes are not such a value.
    #[error("{0}")]
    Decode(String),
    /// The bytes go on behind the value.
    #[error("{0} bytes follow the value")]
    Trailing(usize),
    /// The value is nested too deeply.
    #[error("the value is nested more than {DEPTH} levels deep")]
    Depth,
    /// A key has neither a value nor a default.
    #[error("no value of the key `{0}` is stored, and it has no default")]
    Missing(&'static str),
    /// Something is stored for which this program has no name.
    #[error("{0}")]
    Unknown(String),
}
