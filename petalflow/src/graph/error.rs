//! The errors of a graph.

use petalflow_graph::Diagnostic;

/// All mistakes in a graph that [`build`](super::GraphBuilder::build) refused, with the codes and messages of `flow!`.
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
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("graph `{graph}` cannot be built:{}", lines(diagnostics))]
pub struct GraphErrors {
    pub(super) graph: String,
    pub(super) diagnostics: Vec<Diagnostic>,
}

crate::error::debug_is_message!(GraphErrors);

impl GraphErrors {
    /// The mistakes, in the order of the rules.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// One line for each mistake.
fn lines(diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| format!("\n  {diagnostic}");
    diagnostics.iter().map(line).collect()
}
