//! A task in flight, and the future that runs it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use petalflow_graph::ItemIdx;

use super::attempt::run_attempts;
use super::requests::run_until_question;
use crate::error::Failure;
use crate::exec::Extras;
use crate::exec::control::state_cell::StateCell;
use crate::exec::persistence::task_end::{TaskEnd, TaskResult};
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, poll_once};
use crate::node::{Effects, Scope};
use crate::state::State;
use crate::superstep::Task;

/// A task in flight. Its memory is reused by later tasks.
pub(crate) struct TaskRun<S: State> {
    /// Its index in the frontier.
    pub(in crate::exec) order: usize,
    pub(crate) scope: Scope,
    pub(in crate::exec) effects: Effects<S>,
    pub(in crate::exec) end: TaskEnd,
}

/// What the tasks of a superstep share: the flow, and the state as it was at the last barrier.
pub(in crate::exec) struct SharedSnapshot<F: Flow> {
    pub(in crate::exec) flow: Arc<F>,
    pub(in crate::exec) extras: Option<Arc<Extras<F::State>>>,
    /// Holds the state while tasks are in flight.
    pub(in crate::exec) state: StateCell<F::State>,
}

/// A task that has ended, the result of its last attempt, and the snapshot that it has used.
pub(in crate::exec) struct EndedTask<F: Flow> {
    pub(in crate::exec) task: Box<TaskRun<F::State>>,
    pub(in crate::exec) result: Result<(), Failure>,
    pub(in crate::exec) snapshot: Arc<SharedSnapshot<F>>,
}

/// Runs one task. The future owns everything it needs, so that its slot can be reused in later supersteps.
pub(in crate::exec) async fn run_task<F: Flow>(
    snapshot: Arc<SharedSnapshot<F>>,
    mut task: Box<TaskRun<F::State>>,
) -> EndedTask<F> {
    let SharedSnapshot {
        flow,
        extras,
        state,
    } = &*snapshot;
    let state = state.get();
    let TaskRun {
        scope,
        effects,
        end,
        ..
    } = &mut *task;
    let surrounded = extras
        .as_ref()
        .is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let result = if surrounded || !scope.shared.plan.policies[scope.node.index()].is_none() {
        let extras = extras.clone().unwrap_or_default();
        let shared = Arc::clone(&scope.shared);
        let key = (scope.superstep, scope.node, scope.send());
        let attempts: BoxFuture<'_, _> =
            Box::pin(async move { run_attempts(&**flow, &extras, scope, state, effects).await });
        run_until_question(&shared, key, end, pin!(attempts)).await
    } else {
        let node = scope.node;
        let mut step = Step::task(scope, state, effects);
        // Pinned in this branch, so that the future holds the memory of one branch only.
        let mut once = pin!(flow.step(node.as_u32(), &mut step));
        let once = poll_fn(move |cx| poll_once(once.as_mut(), cx));
        if scope.shared.services.is_none() {
            once.await
        } else {
            let key = (scope.superstep, node, scope.send());
            run_until_question(&scope.shared, key, end, pin!(once)).await
        }
    };
    EndedTask {
        task,
        result,
        snapshot,
    }
}

impl<S: State> TaskRun<S> {
    pub(in crate::exec) fn new(scope: &Scope) -> Self {
        Self::ended(scope.clone(), Effects::default(), TaskEnd::Done)
    }

    /// A task that has ended outside the parallel executor.
    pub(in crate::exec) fn ended(scope: Scope, effects: Effects<S>, end: TaskEnd) -> Self {
        TaskRun {
            order: 0,
            scope,
            effects,
            end,
        }
    }

    /// Reuses the memory for another task.
    pub(in crate::exec) fn begin(&mut self, order: usize, task: Task, superstep: u64) {
        self.order = order;
        let item = task.item.map(ItemIdx::index);
        let at = (superstep, task.node);
        self.scope.begin(at, task.send, item, task.delivery);
        self.effects.clear();
        self.end = TaskEnd::Done;
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
