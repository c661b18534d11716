//! The errors of templates.

use std::fmt;

/// Why a template cannot be used, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the template is wrong at position {position}: {problem}")]
pub struct TemplateError {
    /// What is wrong.
    pub problem: String,
    /// The position in the template, in bytes, from 0.
    pub position: usize,
}

pub(super) fn error(problem: impl Into<String>, position: usize) -> TemplateError {
    TemplateError {
        problem: problem.into(),
        position,
    }
}

/// Why a template cannot be filled with some values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// A value that the template reads is missing.
    Missing {
        /// Its name, such as `user.name`.
        name: String,
    },
    /// An action cannot be executed with the values.
    Action {
        /// What is wrong.
        problem: String,
        /// The position of the action in the template, in bytes, from 0.
        position: usize,
    },
    /// The text is longer than the limit.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenderError::Missing { name } => {
                write!(f, "the template cannot be filled: `{name}` has no value")
            }
            RenderError::Action { problem, position } => write!(
                f,
                "the template cannot be filled: at position {position}: {problem}"
            ),
            RenderError::TooLong { limit } => {
                write!(f, "the template makes more than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for RenderError {}
