//! The error of the loader.

/// All that prevents a graph from being loaded.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("graph `{graph}` cannot be loaded:\n  {}", problems.join("\n  "))]
pub struct LoadError {
    pub(super) graph: String,
    pub(super) problems: Vec<String>,
}

impl LoadError {
    /// The problems. Each names its node.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
