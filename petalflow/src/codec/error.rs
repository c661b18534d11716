//! Why bytes and values do not fit.

use std::error::Error;
use std::fmt;

use super::depth::DEPTH;

/// Why bytes and values do not fit.
#[derive(Debug)]
pub enum CodecError {
    /// The value's own serialization failed.
    Encode(String),
    /// The bytes are not such a value.
    Decode(String),
    /// The bytes go on behind the value.
    Trailing(usize),
    /// The value is nested too deeply.
    Depth,
    /// A key has neither a value nor a default.
    Missing(&'static str),
    /// Something is stored for which this program has no name.
    Unknown(String),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecError::Encode(problem) => write!(f, "the value cannot be stored: {problem}"),
            CodecError::Decode(problem) | CodecError::Unknown(problem) => f.write_str(problem),
            CodecError::Trailing(bytes) => write!(f, "{bytes} bytes follow the value"),
            CodecError::Depth => write!(f, "the value is nested more than {DEPTH} levels deep"),
            CodecError::Missing(key) => write!(
                f,
                "no value of the key `{key}` is stored, and it has no default"
            ),
        }
    }
}

impl Error for CodecError {}
