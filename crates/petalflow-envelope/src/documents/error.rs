//! The error of the loader.

/// All that prevents a graph from being loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
