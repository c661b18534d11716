//! The error of the loader.

/// All that prevents a graph from being loaded.
///
/// ```
/// use petalflow_documents::document::{Catalog, Source};
/// use petalflow_documents::{Services, load};
///
/// let source = Source::new("ask.graph.yaml", "
/// id: ask
/// version: '1.0'
/// kind: graph
/// nodes:
///   - { id: answer, type: func }
/// edges: []
/// ");
/// let graph = source.check(&Catalog::default())?.graph(&Catalog::default());
/// let error = load(&graph, &Services::new()).unwrap_err();
/// assert!(error.problems()[0].contains("answer"));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
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
