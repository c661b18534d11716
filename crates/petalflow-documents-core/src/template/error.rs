//! The error of a template.

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
