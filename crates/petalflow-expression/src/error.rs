//! The errors of expressions: of parsing, and of evaluation.

/// Why an expression cannot be parsed, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at position {position}")]
pub struct ParseError {
    /// What is wrong.
    pub problem: String,
    /// The position in the expression, in bytes, from 0.
    pub position: usize,
}

impl ParseError {
    pub(crate) fn new(problem: impl Into<String>, position: usize) -> Self {
        ParseError {
            problem: problem.into(),
            position,
        }
    }
}

/// Why an expression cannot be evaluated: a text is not a regular expression, or it needs too much memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvalError(pub(crate) String);
