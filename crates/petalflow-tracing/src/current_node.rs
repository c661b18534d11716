//! The node that runs, and the totals that count what it uses.

use std::future::Future;
use std::sync::Arc;

use crate::Totals;

/// A node that runs, and the totals that count what it uses.
#[derive(Clone)]
pub(crate) struct CurrentNode {
    pub(crate) node: Arc<str>,
    pub(crate) totals: Totals,
}

tokio::task_local! {
    static CURRENT: Option<CurrentNode>;
}

/// The node that the caller is part of.
pub(crate) fn current() -> Option<CurrentNode> {
    CURRENT.try_with(Option::clone).ok().flatten()
}

/// Runs a future as part of a node.
pub(crate) fn within<F: Future>(
    node: Option<CurrentNode>,
    work: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(node, work)
}

/// Calls a function as part of a node.
pub(crate) fn called<R>(node: Option<CurrentNode>, work: impl FnOnce() -> R) -> R {
    CURRENT.sync_scope(node, work)
}
