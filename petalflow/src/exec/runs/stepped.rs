//! A run without a driver: its caller runs the tasks, and hands in their results.

use std::sync::Arc;

use super::run_loop::all_joins_complete;
use super::start::{interrupts_without_thread, missing_managed};
use crate::exec::control::abort::Abort;
use crate::exec::persistence::NoPersistence;
use crate::exec::supersteps::commit::{CommitTarget, commit};
use crate::exec::supersteps::driver::{Driver, names};
use crate::exec::task::attempts::run_attempts;
use crate::exec::task::task_run::{TaskRun, prepare_tasks};
use crate::exec::{Extras, FinishedTask, Settings};
use crate::flow::Flow;
use crate::node::Scope;
use crate::outcome::{RunError, RunErrorKind};
use crate::state::{KeySet, State};
use crate::superstep::{Planner, Task};

/// A run between two supersteps.
pub(crate) struct SteppedRun<F: Flow> {
    pub(crate) flow: Arc<F>,
    extras: Arc<Extras<F::State>>,
    /// Its superstep is the last one that was committed.
    pub(crate) scope: Scope,
    pub(crate) state: F::State,
    written: KeySet,
    planner: Planner,
    /// The tasks of the next superstep.
    pub(crate) frontier: Vec<Task>,
}

impl<F: Flow> SteppedRun<F> {
    pub(crate) fn begin(
        flow: Arc<F>,
        mut settings: Settings<F::State>,
        input: <F::State as State>::Input,
    ) -> Result<Self, RunError> {
        let plan = flow.plan();
        let missing = missing_managed(&*flow, &settings, &plan);
        if !missing.is_empty() {
            let kind = RunErrorKind::MissingManaged(missing);
            return Err(RunError::bare(kind, flow.name(), 0));
        }
        if !plan.interrupt_points.is_empty() {
            return Err(interrupts_without_thread(&*flow));
        }
        if let Some(own) = settings.managed.as_ref().and_then(|all| all.for_run()) {
            settings.managed = Some(Arc::new(own));
        }
        let mut planner = Planner::new(&plan);
        let mut frontier = Vec::new();
        planner.start(&plan, &mut frontier);
        let begun =
            F::State::start(input).map_err(|error| RunError::of_input(error, flow.name()))?;
        let driver = Driver::new(flow, settings, plan, 0, begun, None);
        let run = SteppedRun {
            state: driver.state,
            written: driver.fast_path.written,
            flow: driver.flow,
            extras: driver.extras.unwrap_or_default(),
            scope: driver.scope,
            planner,
            frontier,
        };
        run.check_limit()?;
        Ok(run)
    }

    /// The tasks of the next superstep.
    pub(crate) fn tasks(&self) -> Vec<TaskRun<F::State>> {
        let mut tasks = Vec::new();
        let (superstep, frontier) = (self.scope.superstep + 1, self.frontier.iter().cloned());
        prepare_tasks(&mut tasks, &self.scope, superstep, frontier);
        tasks
    }

    /// Runs a task of the next superstep.
    pub(crate) async fn run(&self, order: usize) -> Result<TaskRun<F::State>, RunError> {
        let mut task = self.tasks().swap_remove(order);
        let TaskRun { scope, effects, .. } = &mut task;
        let ran = run_attempts(&*self.flow, &self.extras, scope, &self.state, effects).await;
        task.end_with(Some(&self.extras), ran)
            .map_err(|abort| self.error(abort))?;
        Ok(task)
    }

    /// Commits the next superstep with the results of all of its tasks, in their order.
    pub(crate) fn commit(&mut self, results: Vec<FinishedTask<F::State>>) -> Result<(), RunError> {
        let mut tasks = self.tasks();
        for (task, FinishedTask { effects, end }) in tasks.iter_mut().zip(results) {
            (task.effects, task.end) = (effects, end);
        }
        let shared = Arc::clone(&self.scope.shared);
        let target = CommitTarget {
            plan: &shared.plan,
            state: &mut self.state,
            written: &mut self.written,
        };
        let (planner, frontier) = (&mut self.planner, &mut self.frontier);
        commit(target, &mut tasks, planner, frontier, &mut NoPersistence)
            .map_err(|abort| self.error(abort))?;
        self.scope.superstep += 1;
        if self.frontier.is_empty() {
            all_joins_complete(&shared.plan, &self.planner).map_err(|abort| self.error(abort))?;
        }
        self.check_limit()
    }

    fn check_limit(&self) -> Result<(), RunError> {
        let shared = &self.scope.shared;
        if self.frontier.is_empty() || self.scope.superstep < shared.limit {
            return Ok(());
        }
        let next = names(&shared.plan, &self.frontier)
            .map(Into::into)
            .collect();
        let limit = shared.launch_limit();
        Err(self.error(Abort::new(RunErrorKind::Limit { limit, next })))
    }

    fn error(&self, abort: Abort<F::State>) -> RunError {
        let reason = abort.into_reason();
        RunError::bare(reason.kind, self.flow.name(), self.scope.superstep)
            .with_source(reason.source)
    }
}
