//! Everything that is wrong with a graph, at once.

use std::fmt;

use petalflow_graph::Diagnostic;

/// Why [`build`](super::GraphBuilder::build) refused a graph: every mistake in it, with the codes and the words of `flow!`.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// let errors = Graph::<Essay>::builder("essay").edge(START, "wirte").edge("publish", END).build().unwrap_err();
/// assert_eq!(errors.diagnostics().len(), 2);
/// assert_eq!(errors.diagnostics()[0].rule.code(), "PF002");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphErrors {
    pub(super) graph: String,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl GraphErrors {
    /// The mistakes, in the order of the rules.
    #[inline]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for GraphErrors {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built:", self.graph)?;
        self.diagnostics
            .iter()
            .try_for_each(|diagnostic| write!(f, "\n  {diagnostic}"))
    }
}

impl std::error::Error for GraphErrors {}
