//! Handles a failed task: its failure is caught or recorded, or it ends the run.

use crate::cancel_token::RunToken;
use crate::delivery::Delivery;
use crate::erased::AnyEffects;
use crate::error::{Failure, NodeError};
use crate::exec::Extras;
use crate::exec::control::abort::Abort;
use crate::exec::persistence::task_end::TaskEnd;
use crate::node::Scope;
use crate::outcome::{RunError, RunErrorKind};

/// Decides what a failed task does to the run: take its `catch` edge, record the failure, or end the run.
pub(in crate::exec) fn handle_failure(
    extras: Option<&Extras>,
    scope: &Scope,
    failure: Failure,
    effects: &mut dyn AnyEffects,
) -> Result<TaskEnd, Abort> {
    let error: NodeError = failure.describe(scope);
    effects.clear();
    let task = || scope.shared.services.is_some().then(|| scope.task_id());
    let cancel = scope.shared.cancel.as_ref();
    // The run stops because it was cancelled. No edge and no record of failures continues it.
    if cancel.is_some_and(RunToken::is_cancelled) {
        return Err(if was_only_cancelled(&failure) {
            Abort::new(RunErrorKind::Cancelled)
        } else {
            Abort::cancelled_with(error, failure.into_source(), task())
        });
    }
    if let Some(to) = scope.shared.plan.out_edges[scope.node.index()].catch {
        return Ok(TaskEnd::Caught {
            to,
            failure: Delivery::one(error),
        });
    }
    if let Some(record) = extras.and_then(|extras| extras.record_failure) {
        record(error, effects);
        return Ok(TaskEnd::Ignored);
    }
    Err(Abort::of_node(error, failure.into_source(), task()))
}

/// Whether the failure is that of a flow inside the node which was cancelled, and in which no node has failed.
fn was_only_cancelled(failure: &Failure) -> bool {
    let inside = failure.source().downcast_ref::<RunError>();
    inside
        .is_some_and(|error| *error.kind() == RunErrorKind::Cancelled && error.get_ref().is_none())
}

impl Failure {
    /// The failure as data, with the task that failed.
    pub(in crate::exec) fn describe(&self, scope: &Scope) -> NodeError {
        let message = crate::error::message_with_sources(&**self.source());
        let mut error = NodeError::new(
            scope.node(),
            &scope.shared.namespace,
            scope.superstep,
            self.kind(),
            message,
        );
        error.attempt = scope.attempt;
        error.index = scope.index();
        error
    }
}
