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

/// The largest number of characters of the expression in a message.
const MAX_SHOWN: usize = 200;

/// A text of an expression in a message: its beginning, on one line.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(MAX_SHOWN) {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
