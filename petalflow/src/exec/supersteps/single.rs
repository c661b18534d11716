//! A stored superstep of one task that nothing surrounds: what the parallel executor does, without its overhead.

use std::future::poll_fn;
use std::pin::pin;

use petalflow_graph::NodeIdx;

use super::barrier::{tasks_ended, write_barrier};
use super::commit::{CommitTarget, SingleTask, commit};
use super::driver::Driver;
use super::failure::handle_failure;
use crate::exec::control::abort::Abort;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::persistence::{Committed, Persistence};
use crate::exec::task::requests::{TaskEvent, next_event, run_until_question, serve};
use crate::exec::task::task_run::TaskRun;
use crate::flow::{Flow, Step};
use crate::future::poll_once;
use crate::superstep::{Planner, Task};

/// Runs the node as a superstep, commits it, plans the next frontier and writes the barrier.
pub(in crate::exec) async fn run_single<F: Flow, P: Persistence<F::State>>(
    driver: &mut Driver<F>,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut P,
    node: NodeIdx,
) -> Result<(), Abort<F::State>> {
    frontier.clear();
    let mut end = TaskEnd::Done;
    let result = {
        let Driver {
            flow,
            watch,
            scope,
            state,
            fast_path,
            effects,
            ..
        } = &mut *driver;
        let state = state.get();
        scope.node = node;
        let scope = &*scope;
        let mut step = Step::task(scope, state, effects);
        let mut once = pin!(flow.step(node.as_u32(), &mut step));
        let once = pin!(poll_fn(move |cx| poll_once(once.as_mut(), cx)));
        let key = (scope.superstep, node, None);
        let mut task = pin!(run_until_question(&scope.shared, key, &mut end, once));
        let services = scope.shared.services.as_deref();
        loop {
            match next_event(watch, services, task.as_mut()).await {
                Ok(TaskEvent::Ended(result)) => break Ok(result),
                Ok(TaskEvent::Requested(request)) => {
                    let committed = Committed {
                        state,
                        written: fast_path.written,
                    };
                    if let Err(abort) = serve(request, watch, persistence, committed).await {
                        break Err(abort);
                    }
                }
                Err(stop) => break Err(Abort::stopped(stop)),
            }
        }
    };
    let result = match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => handle_failure(
            driver.extras.as_deref(),
            &driver.scope.shared.plan,
            &driver.scope,
            failure,
            &mut driver.effects,
        )
        .map(|handled| end = handled),
        Err(abort) => Err(abort),
    };
    let waiting = matches!(end, TaskEnd::Waiting);
    if waiting || result.is_err() || !persistence.is_idle() {
        let effects = std::mem::take(&mut driver.effects);
        let task = Box::new(TaskRun::ended(driver.scope.clone(), effects, end));
        // A task that waits or has failed has no result.
        let finished = if waiting || result.is_err() {
            &[]
        } else {
            std::slice::from_ref(&task)
        };
        let ended = tasks_ended(driver, persistence, finished, result).await;
        (driver.effects, end) = (task.effects, task.end);
        ended?;
    }
    let Driver {
        scope,
        state,
        fast_path,
        effects,
        ..
    } = &mut *driver;
    let target = CommitTarget {
        plan: &scope.shared.plan,
        state: state.get_mut(),
        written: &mut fast_path.written,
    };
    let mut task = SingleTask {
        node,
        effects,
        end: &end,
    };
    commit(target, &mut task, planner, frontier, persistence)?;
    effects.clear();
    write_barrier(driver, persistence, planner, frontier, std::iter::empty()).await
}
