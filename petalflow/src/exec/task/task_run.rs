//! A task of a superstep, and the future that runs it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use petalflow_graph::ItemIdx;

use super::attempts::{emit, run_attempts};
use super::failure::handle_failure;
use crate::error::Failure;
use crate::event::EventKind;
use crate::exec::Extras;
use crate::exec::control::abort::Abort;
use crate::exec::persistence::TaskDisposition;
use crate::exec::persistence::task_end::{TaskEnd, TaskResult};
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, poll_once};
use crate::node::{Effects, Scope};
use crate::state::State;
use crate::superstep::Task;
use crate::task_services::question::until_asked;

/// A task of a superstep.
pub(crate) struct TaskRun<S: State> {
    pub(crate) scope: Scope,
    pub(in crate::exec) effects: Effects<S>,
    pub(in crate::exec) end: TaskEnd,
}

/// Makes the tasks of a frontier. Their memory is that of earlier tasks, where there were as many.
pub(in crate::exec) fn prepare_tasks<'t, S: State>(
    memory: &'t mut Vec<TaskRun<S>>,
    run: &Scope,
    superstep: u64,
    frontier: impl ExactSizeIterator<Item = Task>,
) -> &'t mut [TaskRun<S>] {
    let width = frontier.len();
    while memory.len() < width {
        memory.push(TaskRun {
            scope: run.clone(),
            effects: Effects::default(),
            end: TaskEnd::Unfinished,
        });
    }
    let tasks = &mut memory[..width];
    for (run, task) in tasks.iter_mut().zip(frontier) {
        run.scope.begin(
            (superstep, task.node),
            task.send,
            task.item.map(ItemIdx::index),
            task.delivery,
        );
        run.effects.clear();
        run.end = TaskEnd::Unfinished;
    }
    tasks
}

/// Runs one task, unless it has ended before or waits for a person. Returns it with its end. Fails if its failure ends the run.
pub(in crate::exec) async fn run_task<'t, F: Flow>(
    flow: &F,
    extras: Option<&Extras<F::State>>,
    state: &F::State,
    task: &'t mut TaskRun<F::State>,
    disposition: TaskDisposition<F::State>,
) -> Result<&'t mut TaskRun<F::State>, Abort<F::State>> {
    match disposition {
        TaskDisposition::Run => {}
        TaskDisposition::Finished(finished) => {
            (task.effects, task.end) = (finished.effects, finished.end);
            emit(extras, &task.scope, || EventKind::NodeRestored {
                update: task.effects.update.clone(),
            });
            return Ok(task);
        }
        TaskDisposition::Skip => {
            task.end = TaskEnd::Ignored;
            emit(extras, &task.scope, || EventKind::NodeSkipped);
            return Ok(task);
        }
        TaskDisposition::Wait => return Ok(task),
    }
    let TaskRun { scope, effects, .. } = &mut *task;
    let surrounded =
        extras.is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let ran = if surrounded || !scope.shared.plan.policies[scope.node.index()].is_bare() {
        let shared = Arc::clone(&scope.shared);
        let (superstep, node, send) = (scope.superstep, scope.node, scope.send());
        let mut attempts: BoxFuture<'_, _> = Box::pin(async move {
            let none = Extras::default();
            run_attempts(flow, extras.unwrap_or(&none), scope, state, effects).await
        });
        match &shared.services {
            Some(services) => {
                let id = || shared.task_id(superstep, node, send);
                until_asked(services, id, attempts.as_mut()).await
            }
            None => Some(attempts.await),
        }
    } else {
        let scope = &*scope;
        let mut step = Step::task(scope, state, effects);
        // Pinned in this branch, so that the future holds the memory of one branch only.
        let mut step = pin!(flow.step(scope.node.as_u32(), &mut step));
        let once = poll_fn(move |cx| poll_once(step.as_mut(), cx));
        match &scope.shared.services {
            Some(services) => until_asked(services, || scope.task_id(), pin!(once)).await,
            None => Some(once.await),
        }
    };
    if let Some(result) = ran {
        task.end_with(extras, result)?;
    }
    Ok(task)
}

impl<S: State> TaskRun<S> {
    /// The task ended with this result of its last attempt. Fails if its failure ends the run.
    pub(in crate::exec) fn end_with(
        &mut self,
        extras: Option<&Extras<S>>,
        result: Result<(), Failure>,
    ) -> Result<(), Abort<S>> {
        self.end = match result {
            Ok(()) => TaskEnd::Done,
            Err(failure) => handle_failure(extras, &self.scope, failure, &mut self.effects)?,
        };
        Ok(())
    }

    pub(in crate::exec) fn is_finished(&self) -> bool {
        !matches!(self.end, TaskEnd::Unfinished)
    }

    pub(crate) fn result(&self) -> TaskResult<'_, S> {
        TaskResult {
            id: self.scope.task_id(),
            node: self.scope.node,
            effects: &self.effects,
            end: &self.end,
        }
    }
}
