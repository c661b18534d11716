//! How a superstep is committed.

use petalflow_graph::NodeIdx;

use crate::erased::{AnyEffects, AnyState, EffectsBox};
use crate::exec::control::abort::Abort;
use crate::exec::persistence::Persistence;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::task::task_run::TaskRun;
use crate::flow::next_on_fast_path;
use crate::outcome::RunErrorKind;
use crate::plan::ExecutionPlan;
use crate::state::{KeyMeta, KeySet, WriteError};
use crate::superstep::{NoEdge, Planner, Task, apply, prepare};

/// The part of a run that a commit changes.
pub(in crate::exec) struct CommitTarget<'a> {
    pub(in crate::exec) plan: &'a ExecutionPlan,
    pub(in crate::exec) state: &'a mut dyn AnyState,
    /// The keys that have been written.
    pub(in crate::exec) written: &'a mut KeySet,
}

/// Commits a superstep in this order: check the writes, plan the next frontier, record the writes, apply them.
///
/// Everything that can be refused is refused before the state changes. Otherwise a state could be stored together with the
/// tasks that led to it, and they would run again.
pub(in crate::exec) fn commit(
    target: CommitTarget<'_>,
    tasks: &mut [TaskRun],
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut dyn Persistence,
) -> Result<(), Abort> {
    let CommitTarget {
        plan,
        state,
        written,
    } = target;
    let expired = state.ty().expiring(*written);
    // Most supersteps have one task, for which no list is made.
    let (one, several);
    let effects: &[&dyn AnyEffects] = if let [task] = &*tasks {
        one = [&*task.effects];
        &one
    } else {
        several = effects_of(tasks);
        &several
    };
    let overwritten = match prepare(state, expired, effects) {
        Ok(overwritten) => overwritten,
        Err(error) => {
            let nodes = writers(plan, tasks, state.ty().keys, &error);
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
            .map(|task| (task.scope.node, task.end.outcome(&*task.effects)));
        planner
            .advance(plan, outcomes, frontier)
            .map_err(|missing| Abort::new(no_edge(plan, &missing)))?;
    }
    persistence
        .record_writes(effects, overwritten)
        .map_err(Abort::of_thread)?;
    let effects = tasks.iter_mut().map(|task| &mut *task.effects);
    apply(state, written, overwritten, effects);
    Ok(())
}

/// What the tasks have written, in their order.
fn effects_of(tasks: &[TaskRun]) -> Vec<&dyn AnyEffects> {
    tasks.iter().map(|task| &*task.effects).collect()
}

/// The node that follows, if a single node leads to it. Such an edge changes neither a join nor the deferred tasks, so the planner
/// is not needed.
fn only_next(plan: &ExecutionPlan, tasks: &[TaskRun]) -> Option<NodeIdx> {
    match tasks {
        [task] if matches!(task.end, TaskEnd::Done) => {
            next_on_fast_path(plan, task.scope.node, task.effects.choice())
        }
        _ => None,
    }
}

/// The names of the nodes whose writes were refused.
#[cold]
fn writers(
    plan: &ExecutionPlan,
    tasks: &[TaskRun],
    keys: &[KeyMeta],
    error: &WriteError,
) -> Vec<String> {
    let key = keys.iter().position(|key| key.name == error.key);
    let key = key.map_or(KeySet::NONE, KeySet::of);
    let wrote = |task: &&TaskRun| !task.effects.written().intersection(key).is_empty();
    let writers = tasks.iter().filter(wrote);
    writers
        .map(|task| plan.name(task.scope.node).to_string())
        .collect()
}

/// Takes the writes of the tasks that have finished, by node, for the error of the run.
#[cold]
pub(in crate::exec) fn take_pending(
    plan: &ExecutionPlan,
    tasks: &mut [TaskRun],
) -> Vec<(String, EffectsBox)> {
    let mut pending = Vec::new();
    for task in tasks.iter_mut().filter(|task| task.is_finished()) {
        let writes = task.effects.take_writes();
        pending.push((plan.name(task.scope.node).to_string(), writes));
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
