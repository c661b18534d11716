//! Everything that is wrong with a graph, at once.

use petalflow_graph::Problem;

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
/// assert_eq!(errors.problems().len(), 2);
/// assert_eq!(errors.problems()[0].rule.code(), "PF002");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("graph `{graph}` cannot be built:{}", lines(problems))]
pub struct GraphErrors {
    pub(super) graph: String,
    pub(super) problems: Vec<Problem>,
}

impl GraphErrors {
    /// The mistakes, in the order of the rules.
    #[inline]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// Each mistake on a line of its own.
#[inline]
fn lines(problems: &[Problem]) -> String {
    let line = |problem: &Problem| format!("\n  {problem}");
    problems.iter().map(line).collect()
}
