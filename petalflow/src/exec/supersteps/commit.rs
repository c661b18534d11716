//! How a superstep is committed.

use petalflow_graph::NodeIdx;

use crate::erased::{AnyEffects, AnyState, EffectsBox};
use crate::exec::control::abort::Abort;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::persistence::{Persistence, Unread};
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
    messages: Vec<Unread>,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut dyn Persistence,
) -> Result<Option<RefusedMessage>, Abort> {
    let CommitTarget {
        plan,
        state,
        written,
    } = target;
    let expired = state.ty().expiring(*written);
    // Most supersteps have one task, for which no list is made.
    let (one, several);
    let mut messages = messages;
    let refused = fitting_messages(state, expired, tasks, &mut messages);
    let effects: &[&dyn AnyEffects] = if let ([task], []) = (&*tasks, &*messages) {
        one = [&*task.effects];
        &one
    } else {
        several = effects_of(tasks, &messages);
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
    let last = refused.as_ref().map(|refused| refused.number);
    if let Some(last) = last.or(messages.last().map(|message| message.number)) {
        persistence.take_messages(last);
    }
    let effects = tasks.iter_mut().map(|task| &mut *task.effects);
    let messages = messages.iter_mut().map(|message| &mut *message.writes);
    apply(state, written, overwritten, effects.chain(messages));
    Ok(refused)
}

/// What the tasks have written, in their order, and then the messages.
fn effects_of<'a>(tasks: &'a [TaskRun], messages: &'a [Unread]) -> Vec<&'a dyn AnyEffects> {
    let tasks = tasks.iter().map(|task| &*task.effects);
    let messages = messages.iter().map(|message| &*message.writes);
    tasks.chain(messages).collect()
}

/// A message whose write a reducer has refused. It is taken, so that the thread can go on without it.
pub(in crate::exec) struct RefusedMessage {
    number: u64,
    error: WriteError,
}

impl RefusedMessage {
    pub(in crate::exec) fn into_abort(self) -> Abort {
        Abort::refused_message(self.number, self.error)
    }
}

/// Removes the first message to a key that a task overwrites, and all messages after it: the overwrite would drop the message. They are
/// taken at the next barrier.
fn wait_for_overwrites(tasks: &[TaskRun], messages: &mut Vec<Unread>) {
    let overwritten = tasks.iter().fold(KeySet::NONE, |keys, task| {
        keys.union(task.effects.overwritten())
    });
    let is_dropped = |message: &Unread| {
        !message
            .writes
            .written()
            .intersection(overwritten)
            .is_empty()
    };
    if let Some(first) = messages.iter().position(is_dropped) {
        messages.truncate(first);
    }
}

/// Removes the first message that cannot be applied together with the writes of the tasks and the messages before it, and all
/// messages after it. They remain in the inbox. If this is the first message, it is refused.
///
/// If the tasks alone cannot be applied, the messages are not the reason.
fn fitting_messages(
    state: &dyn AnyState,
    expired: KeySet,
    tasks: &[TaskRun],
    messages: &mut Vec<Unread>,
) -> Option<RefusedMessage> {
    wait_for_overwrites(tasks, messages);
    if messages.is_empty() || prepare(state, expired, &effects_of(tasks, messages)).is_ok() {
        return None;
    }
    if prepare(state, expired, &effects_of(tasks, &[])).is_err() {
        messages.clear();
        return None;
    }
    for fitting in 0..messages.len() {
        let effects = effects_of(tasks, &messages[..=fitting]);
        let Err(error) = prepare(state, expired, &effects) else {
            continue;
        };
        let number = messages[fitting].number;
        messages.truncate(fitting);
        return (fitting == 0).then_some(RefusedMessage { number, error });
    }
    None
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
