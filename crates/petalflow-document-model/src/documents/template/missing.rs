//! What is done about missing values.

/// What a template does with a value that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingValue {
    /// It fails.
    Error,
    /// It uses an empty text.
    Empty,
    /// It writes `<no value>`, as Go does. Functions get `null`, and those that take a text fail.
    NoValue,
}
