//! How a superstep is committed.

use petalflow_graph::NodeIdx;

use crate::exec::control::abort::Abort;
use crate::exec::persistence::Persistence;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::task::task_run::TaskRun;
use crate::flow::next_on_fast_path;
use crate::outcome::RunErrorKind;
use crate::plan::ExecutionPlan;
use crate::state::{KeySet, State, Update, WriteError};
use crate::superstep::{NoEdge, Planner, Task, apply, expired, prepare};

/// The part of a run that a commit changes.
pub(in crate::exec) struct CommitTarget<'a, S> {
    pub(in crate::exec) plan: &'a ExecutionPlan,
    pub(in crate::exec) state: &'a mut S,
    /// The keys that have been written.
    pub(in crate::exec) written: &'a mut KeySet,
}

/// Commits a superstep in this order: check the writes, plan the next frontier, record the writes, apply them.
///
/// Everything that can be refused is refused before the state changes. Otherwise a state could be stored together with the
/// tasks that led to it, and they would run again.
pub(in crate::exec) fn commit<S: State, P: Persistence<S>>(
    target: CommitTarget<'_, S>,
    tasks: &mut [TaskRun<S>],
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut P,
) -> Result<(), Abort<S>> {
    let CommitTarget {
        plan,
        state,
        written,
    } = target;
    let updates = tasks.iter().map(|task| &task.effects.update);
    let overwritten = match prepare(state, expired::<S>(*written), updates.clone()) {
        Ok(overwritten) => overwritten,
        Err(error) => {
            let nodes = writers(plan, tasks, &error);
            let pending = take_pending(plan, tasks);
            return Err(Abort::refused(nodes, error).with_pending(pending));
        }
    };
    if let Some(next) = only_next(plan, tasks) {
        frontier.clear();
        frontier.push(Task::plain(next));
    } else {
        let outcomes = tasks
            .iter()
            .map(|task| (task.scope.node, task.end.outcome(&task.effects)));
        planner
            .advance(plan, outcomes, frontier)
            .map_err(|missing| Abort::new(no_edge(plan, &missing)))?;
    }
    persistence
        .record_writes(updates, overwritten)
        .map_err(Abort::of_thread)?;
    let updates = tasks.iter_mut().map(|task| &mut task.effects.update);
    apply(state, written, overwritten, updates);
    Ok(())
}

/// The node that follows, if a single node leads to it. Such an edge changes neither a join nor the deferred tasks, so the planner
/// is not needed.
fn only_next<S: State>(plan: &ExecutionPlan, tasks: &[TaskRun<S>]) -> Option<NodeIdx> {
    match tasks {
        [task] if matches!(task.end, TaskEnd::Done) => {
            next_on_fast_path(plan, task.scope.node, &task.effects)
        }
        _ => None,
    }
}

/// The names of the nodes whose writes were refused.
#[cold]
fn writers<S: State>(
    plan: &ExecutionPlan,
    tasks: &[TaskRun<S>],
    error: &WriteError,
) -> Vec<String> {
    let key = S::KEYS.iter().position(|key| key.name == error.key);
    let key = key.map_or(KeySet::NONE, KeySet::of);
    let wrote = |task: &&TaskRun<S>| !task.effects.update.written().intersection(key).is_empty();
    let writers = tasks.iter().filter(wrote);
    writers
        .map(|task| plan.name(task.scope.node).to_string())
        .collect()
}

/// Takes the writes of the tasks that have finished, by node, for the error of the run.
#[cold]
pub(in crate::exec) fn take_pending<S: State>(
    plan: &ExecutionPlan,
    tasks: &mut [TaskRun<S>],
) -> Vec<(String, Update<S>)> {
    let mut pending = Vec::new();
    for task in tasks.iter_mut().filter(|task| task.is_finished()) {
        let update = std::mem::take(&mut task.effects.update);
        pending.push((plan.name(task.scope.node).to_string(), update));
    }
    pending
}

/// The error for a route that no edge leads along.
#[cold]
pub(in crate::exec) fn no_edge(plan: &ExecutionPlan, missing: &NoEdge) -> RunErrorKind {
    let route = plan.routes[missing.node.index()].name(missing.route);
    RunErrorKind::NoEdge {
        node: plan.name(missing.node).into(),
        route: route.into(),
    }
}
