//! What becomes of a failed task.

use super::Extras;
use super::abort::Abort;
use super::parallel::TaskEnd;
use crate::cancel_token::CancelToken;
use crate::delivery::Delivery;
use crate::error::{Failure, NodeError};
use crate::node::{Effects, Scope};
use crate::outcome::RunErrorKind;
use crate::plan::ExecutionPlan;
use crate::state::State;

/// What becomes of a failed task: its `catch` edge, a record, or the end of the run.
pub(crate) fn handle_failure<S: State>(
    extras: Option<&Extras<S>>,
    plan: &ExecutionPlan,
    scope: &Scope,
    failure: Failure,
    effects: &mut Effects<S>,
) -> Result<TaskEnd, Abort<S>> {
    let error: NodeError = failure.describe(scope);
    effects.clear();
    // What fails because the run is cancelled, such as a flow inside it, is not the reason why it stops.
    if scope
        .shared
        .cancel
        .as_ref()
        .is_some_and(CancelToken::is_cancelled)
    {
        return Err(Abort::new(RunErrorKind::Cancelled));
    }
    if let Some(to) = plan.out_edges[scope.node as usize].catch {
        return Ok(TaskEnd::Caught {
            to,
            failure: Delivery::one(error),
        });
    }
    if let Some(record) = extras.and_then(|extras| extras.record) {
        record(error, &mut effects.update);
        return Ok(TaskEnd::Ignored);
    }
    let task = scope.shared.services.is_some().then(|| scope.task_id());
    Err(Abort::of_node(error, failure.into_source(), task))
}
