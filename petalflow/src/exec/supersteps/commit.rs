//! How a superstep is committed. The single-task path and the parallel path share this order.

use petalflow_graph::NodeIdx;

use crate::exec::control::abort::Abort;
use crate::exec::persistence::Persistence;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::task::task_run::TaskRun;
use crate::flow::next_fast;
use crate::node::Effects;
use crate::outcome::RunErrorKind;
use crate::plan::ExecutionPlan;
use crate::state::{KeySet, State, Update as _, WriteError};
use crate::superstep::{NoEdge, Planner, Task, apply, expired, prepare};

/// The tasks of a superstep that have ended, in the order of the frontier.
pub(in crate::exec) trait SuperstepTasks<S: State> {
    fn updates<'a>(&'a self) -> impl Iterator<Item = &'a S::Update> + Clone
    where
        S: 'a;

    fn updates_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut S::Update>
    where
        S: 'a;

    /// Plans the next frontier.
    fn plan_next(
        &mut self,
        plan: &ExecutionPlan,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), NoEdge>;

    /// The names of the nodes whose writes were refused.
    fn writers(&self, plan: &ExecutionPlan, error: &WriteError) -> Vec<String>;

    /// Takes the writes of all tasks, by node, for the error of the run.
    fn take_pending(&mut self, plan: &ExecutionPlan) -> Vec<(String, S::Update)>;
}

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
    tasks: &mut impl SuperstepTasks<S>,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut P,
) -> Result<(), Abort<S>> {
    let CommitTarget {
        plan,
        state,
        written,
    } = target;
    let overwritten = match prepare(state, expired::<S>(*written), tasks.updates()) {
        Ok(overwritten) => overwritten,
        Err(error) => {
            let nodes = tasks.writers(plan, &error);
            let pending = tasks.take_pending(plan);
            return Err(Abort::refused(nodes, error).with_pending(pending));
        }
    };
    if let Err(missing) = tasks.plan_next(plan, planner, frontier) {
        return Err(Abort::new(no_edge(plan, &missing)));
    }
    persistence
        .record_writes(tasks.updates(), overwritten)
        .map_err(Abort::of_thread)?;
    apply(state, written, overwritten, tasks.updates_mut());
    Ok(())
}

/// The only task of a superstep.
pub(in crate::exec) struct SingleTask<'a, S: State> {
    pub(in crate::exec) node: NodeIdx,
    pub(in crate::exec) effects: &'a mut Effects<S>,
    pub(in crate::exec) end: &'a TaskEnd,
}

impl<S: State> SuperstepTasks<S> for SingleTask<'_, S> {
    fn updates<'a>(&'a self) -> impl Iterator<Item = &'a S::Update> + Clone
    where
        S: 'a,
    {
        std::iter::once(&self.effects.update)
    }

    fn updates_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut S::Update>
    where
        S: 'a,
    {
        std::iter::once(&mut self.effects.update)
    }

    fn plan_next(
        &mut self,
        plan: &ExecutionPlan,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), NoEdge> {
        if matches!(self.end, TaskEnd::Done)
            && let Some(next) = next_fast(plan, self.node, self.effects)
        {
            // Such an edge changes neither a join nor the deferred tasks, so the planner is not needed.
            frontier.push(Task::plain(next));
            return Ok(());
        }
        let outcome = self.end.outcome(self.effects);
        planner.advance(plan, std::iter::once((self.node, outcome)), frontier)
    }

    #[cold]
    fn writers(&self, plan: &ExecutionPlan, _: &WriteError) -> Vec<String> {
        vec![plan.name(self.node).to_string()]
    }

    #[cold]
    fn take_pending(&mut self, plan: &ExecutionPlan) -> Vec<(String, S::Update)> {
        let update = std::mem::take(&mut self.effects.update);
        vec![(plan.name(self.node).to_string(), update)]
    }
}

impl<S: State> SuperstepTasks<S> for Vec<Box<TaskRun<S>>> {
    fn updates<'a>(&'a self) -> impl Iterator<Item = &'a S::Update> + Clone
    where
        S: 'a,
    {
        self.iter().map(|task| &task.effects.update)
    }

    fn updates_mut<'a>(&'a mut self) -> impl Iterator<Item = &'a mut S::Update>
    where
        S: 'a,
    {
        self.iter_mut().map(|task| &mut task.effects.update)
    }

    fn plan_next(
        &mut self,
        plan: &ExecutionPlan,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), NoEdge> {
        let outcomes = self
            .iter()
            .map(|task| (task.scope.node, task.end.outcome(&task.effects)));
        planner.advance(plan, outcomes, frontier)
    }

    #[cold]
    fn writers(&self, plan: &ExecutionPlan, error: &WriteError) -> Vec<String> {
        let key = S::KEYS.iter().position(|key| key.name == error.key);
        let key = key.map_or(KeySet::NONE, KeySet::of);
        let mut writers = Vec::new();
        for task in self {
            if !task.effects.update.written().intersection(key).is_empty() {
                writers.push(plan.name(task.scope.node).to_string());
            }
        }
        writers
    }

    #[cold]
    fn take_pending(&mut self, plan: &ExecutionPlan) -> Vec<(String, S::Update)> {
        let mut pending = Vec::new();
        for task in self {
            let update = std::mem::take(&mut task.effects.update);
            pending.push((plan.name(task.scope.node).to_string(), update));
        }
        pending
    }
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
