//! A task of a superstep, and the future that runs it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;

use petalflow_graph::ItemIdx;

use super::attempts::{emit, run_attempts};
use super::failure::handle_failure;
use crate::erased::{AnyState, EffectsBox, StateType};
use crate::error::Failure;
use crate::event::AnyEventKind;
use crate::exec::Extras;
use crate::exec::control::abort::Abort;
use crate::exec::persistence::TaskDisposition;
use crate::exec::persistence::task_end::{TaskEnd, TaskResult};
use crate::flow::AnyFlow;
use crate::future::{BoxFuture, poll_once};
use crate::ids::TaskId;
use crate::node::Scope;
use crate::superstep::Task;
use crate::task_services::TaskServices;
use crate::task_services::question::until_asked;

/// A task of a superstep.
pub(crate) struct TaskRun {
    pub(crate) scope: Scope,
    pub(in crate::exec) effects: EffectsBox,
    pub(in crate::exec) end: TaskEnd,
    /// Whether a person decides first whether it runs.
    pub(in crate::exec) is_undecided: bool,
}

/// Makes the tasks of a frontier. Their memory is that of earlier tasks, where there were as many.
pub(in crate::exec) fn prepare_tasks<'t>(
    memory: &'t mut Vec<TaskRun>,
    ty: &StateType,
    run: &Scope,
    superstep: u64,
    frontier: impl ExactSizeIterator<Item = Task>,
) -> &'t mut [TaskRun] {
    let width = frontier.len();
    while memory.len() < width {
        memory.push(TaskRun {
            scope: run.of_another_task(),
            effects: (ty.no_effects)(),
            end: TaskEnd::Unfinished,
            is_undecided: false,
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
        run.is_undecided = false;
    }
    tasks
}

/// Runs one task, unless it has ended before or waits for a person. Returns it with its end. Fails if its failure ends the run.
pub(in crate::exec) async fn run_task<'t>(
    flow: &dyn AnyFlow,
    extras: Option<&Extras>,
    state: &dyn AnyState,
    task: &'t mut TaskRun,
    disposition: TaskDisposition,
) -> Result<&'t mut TaskRun, Abort> {
    match disposition {
        TaskDisposition::Run => {}
        TaskDisposition::Finished(finished) => {
            (task.effects, task.end) = (finished.effects, finished.end);
            emit(extras, &task.scope, || AnyEventKind::NodeRestored {
                update: task.effects.clone_writes(),
            });
            return Ok(task);
        }
        TaskDisposition::Skip => {
            task.end = TaskEnd::Ignored;
            emit(extras, &task.scope, || AnyEventKind::NodeSkipped);
            return Ok(task);
        }
        TaskDisposition::Wait => {
            task.is_undecided = true;
            return Ok(task);
        }
    }
    let TaskRun { scope, effects, .. } = &mut *task;
    let surrounded =
        extras.is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let ran = if surrounded || !scope.shared.plan.policies[scope.node.index()].is_bare() {
        let shared = Arc::clone(&scope.shared);
        let (superstep, node, send) = (scope.superstep, scope.node, scope.send());
        let mut attempts: BoxFuture<'_, _> = Box::pin(async move {
            let none = Extras::default();
            let extras = extras.unwrap_or(&none);
            run_attempts(flow, extras, scope, state, &mut **effects).await
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
        let mut node = flow.run_node(scope, state, &mut **effects);
        let once = poll_fn(move |cx| poll_once(Pin::new(&mut node), cx));
        match &scope.shared.services {
            Some(services) => until_asked(services, || scope.task_id(), pin!(once)).await,
            None => Some(once.await),
        }
    };
    // What the node has spawned may still have its context.
    task.scope.life.renew();
    match ran {
        Some(result) => task.end_with(extras, result)?,
        // It waits for a person, and not for another attempt.
        None if task.scope.attempt > 1 => {
            let shared = &task.scope.shared;
            shared.set_retried(task.scope.task_id(), None);
        }
        None => {}
    }
    Ok(task)
}

impl TaskRun {
    /// The task ended with this result of its last attempt. Fails if its failure ends the run.
    pub(in crate::exec) fn end_with(
        &mut self,
        extras: Option<&Extras>,
        result: Result<(), Failure>,
    ) -> Result<(), Abort> {
        self.end = match result {
            Ok(()) => TaskEnd::Done,
            Err(failure) => handle_failure(extras, &self.scope, failure, &mut *self.effects)?,
        };
        Ok(())
    }

    /// The id under which the task waits for a person. The tasks of a node share its approval.
    pub(in crate::exec) fn waits_as(&self) -> TaskId {
        let Scope {
            shared,
            superstep,
            node,
            ..
        } = &self.scope;
        if self.is_undecided {
            shared.task_id(*superstep, *node, None)
        } else {
            self.scope.task_id()
        }
    }

    /// The task has waited, and got an answer or a decision, or its time has come. It runs from its beginning.
    pub(in crate::exec) fn begin_again(&mut self, services: Option<&TaskServices>) {
        if let Some(services) = services {
            services.run_again(self.waits_as());
        }
        self.is_undecided = false;
        self.scope.attempt = 1;
        self.effects.clear();
    }

    pub(in crate::exec) fn is_finished(&self) -> bool {
        !matches!(self.end, TaskEnd::Unfinished)
    }

    pub(crate) fn result(&self) -> TaskResult<'_> {
        TaskResult {
            id: self.scope.task_id(),
            node: self.scope.node,
            effects: &*self.effects,
            end: &self.end,
        }
    }
}
