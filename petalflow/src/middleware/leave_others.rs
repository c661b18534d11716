//! Leaves the tasks of a replay that are not to run.

use super::{AnyCall, AnyMiddleware, AnyNext};
use crate::error::BoxError;
use crate::future::BoxFuture;

/// Around all nodes of a replay, those of sub-flows too: runs the tasks that are to run, and leaves the others.
pub(crate) struct LeaveOthers;

impl AnyMiddleware for LeaveOthers {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let shared = &call.scope.shared;
        let runs = shared.services.as_ref().is_some_and(|services| {
            let is_subflow = shared.plan.graph().node(call.scope.node).subflow;
            let store = &services.storage.store;
            let node = shared.namespace.plain_path(call.scope.node());
            store.runs_in_replay(call.scope.task_id(), &node, is_subflow)
        });
        if runs {
            return next.run(call);
        }
        Box::pin(call.scope.leave())
    }
}
