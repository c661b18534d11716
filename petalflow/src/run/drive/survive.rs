//! What becomes of a failed task.

use crate::cancel::CancelToken;
use crate::delivery::Delivery;
use crate::error::{Failure, NodeError};
use crate::node::{Effects, Scope};
use crate::outcome::RunErrorKind;
use crate::plan::ExecutionPlan;
use crate::run::Extras;
use crate::run::broken::Broken;
use crate::run::fork::JobEnd;
use crate::state::State;

/// What becomes of a failed task: its `catch` edge, a record, or the end of the run.
pub(in crate::run) fn survive<S: State>(
    extras: Option<&Extras<S>>,
    plan: &ExecutionPlan,
    scope: &Scope,
    failure: Failure,
    effects: &mut Effects<S>,
) -> Result<JobEnd, Broken<S>> {
    let error: NodeError = failure.describe(scope);
    effects.clear();
    // What fails because the run is cancelled, such as a flow inside it, is not the reason why it stops.
    if scope
        .shared
        .cancel
        .as_ref()
        .is_some_and(CancelToken::is_cancelled)
    {
        return Err(Broken::new(RunErrorKind::Cancelled));
    }
    if let Some(to) = plan.ways[scope.node as usize].catch {
        return Ok(JobEnd::Caught {
            to,
            failure: Delivery::one(error),
        });
    }
    if let Some(record) = extras.and_then(|extras| extras.record) {
        record(error, &mut effects.update);
        return Ok(JobEnd::Ignored);
    }
    let task = scope.shared.desk.is_some().then(|| scope.task_id());
    Err(Broken::of_node(error, failure.into_source(), task))
}
