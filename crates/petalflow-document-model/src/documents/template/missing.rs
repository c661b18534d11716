//! What is done about missing values.

/// What a template does with a value that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingValue {
    /// It fails.
    Error,
    /// It uses an empty text.
    Empty,
}
