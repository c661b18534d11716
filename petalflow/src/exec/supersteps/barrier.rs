//! The report of the driver to the persistence at the end of a superstep.

use std::future::poll_fn;
use std::task::Poll;

use super::driver::Driver;
use super::interrupt_points::points_after;
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::poll_watch;
use crate::exec::persistence::task_end::TaskResult;
use crate::exec::persistence::{Barrier, Committed, Persistence, Stopped, Waits};
use crate::exec::task::task_run::TaskRun;
use crate::outcome::RunErrorKind;
use crate::superstep::{Planner, Task};

/// Reports to the persistence that no task runs any more. Fails with `result`, or because the run waits for a person.
pub(in crate::exec) async fn tasks_ended(
    driver: &mut Driver,
    persistence: &mut dyn Persistence,
    finished: Vec<TaskResult<'_>>,
    result: Result<(), Abort>,
) -> Result<(), Abort> {
    let stopped = result.as_ref().err().map(|abort| {
        let failed = abort.failed_task();
        let failed = failed.map(|(task, error)| (task, error.clone()));
        let namespace = driver.scope.shared.namespace.as_str();
        let retried = driver.scope.shared.retried().into_iter();
        let retried = retried.filter(|(_, error)| error.namespace == namespace);
        Stopped {
            failed: retried.chain(failed).collect(),
        }
    });
    // Not through `&driver`, which cannot be held across an await: the driver is not `Sync`.
    let Driver {
        scope,
        state,
        fast_path,
        ..
    } = driver;
    let committed = Committed {
        state: &**state,
        written: fast_path.written,
    };
    let stored = persistence
        .tasks_ended(&scope.shared.plan, committed, finished, stopped)
        .await;
    let waits = match (result, stored) {
        (Ok(()), stored) => stored.map_err(Abort::of_thread)?,
        // It has not ended if that is not stored.
        (Err(abort), Err(error)) if abort.is_rejection() => return Err(Abort::of_thread(error)),
        // A failure is the cause; that it could not be stored comes second.
        (Err(abort), _) => return Err(abort),
    };
    if !waits.is_nothing() {
        return Err(Abort::waiting(waits));
    }
    let services = scope.shared.services.as_ref();
    if services.is_some_and(|services| services.is_held()) {
        // The program that drives the supersteps knows which tasks have no result.
        return Err(Abort::new(RunErrorKind::Drained { next: Vec::new() }));
    }
    Ok(())
}

/// Reports to the persistence that a superstep was committed. Fails if the run waits for a person after one of its nodes.
pub(in crate::exec) async fn write_barrier(
    driver: &mut Driver,
    persistence: &mut dyn Persistence,
    planner: &Planner,
    frontier: &[Task],
    tasks: &[TaskRun],
) -> Result<(), Abort> {
    let interrupt_points = if driver.plan().interrupt_points.is_empty() {
        Vec::new()
    } else {
        points_after(driver, tasks, persistence.lost())?
    };
    let Driver {
        state,
        fast_path,
        watch,
        scope,
        ..
    } = driver;
    let barrier = Barrier {
        plan: &scope.shared.plan,
        planner,
        frontier,
        superstep: scope.superstep,
        committed: Committed {
            state: &**state,
            written: fast_path.written,
        },
        interrupt_points,
    };
    let waits = !barrier.interrupt_points.is_empty();
    let due = persistence.barrier_reached(barrier);
    if due.map_err(Abort::of_thread)? {
        let mut written = persistence.write_checkpoint();
        let mut waited = false;
        let result = poll_fn(|cx| match written.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(Ok(result)),
            Poll::Pending => {
                waited = true;
                poll_watch(watch, cx).map(Err)
            }
        });
        result
            .await
            .map_err(Abort::stopped)?
            .map_err(|error| Abort::of_thread(error.into()))?;
        drop(written);
        if waited {
            persistence.waited();
        }
        persistence.checkpoint_written();
    }
    driver.emit_checkpoint(persistence);
    if waits {
        let interrupts = persistence.interrupts_after();
        return Err(Abort::waiting(Waits {
            interrupts,
            wakes_ms: None,
        }));
    }
    Ok(())
}
