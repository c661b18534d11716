//! The current node, and the totals that count its usage.

use std::future::Future;
use std::sync::Arc;

use crate::Totals;

/// The current node, and the totals that count its usage.
#[derive(Clone)]
pub(crate) struct CurrentNode {
    pub(crate) node: Arc<str>,
    pub(crate) totals: Totals,
}

tokio::task_local! {
    static CURRENT: Option<CurrentNode>;
}

/// Returns the node that the caller runs in.
pub(crate) fn current() -> Option<CurrentNode> {
    CURRENT.try_with(Option::clone).ok().flatten()
}

/// Runs a future inside a node.
pub(crate) fn within<F: Future>(
    node: Option<CurrentNode>,
    work: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(node, work)
}

/// Calls a function inside a node.
pub(crate) fn enter<R>(node: Option<CurrentNode>, work: impl FnOnce() -> R) -> R {
    CURRENT.sync_scope(node, work)
}
