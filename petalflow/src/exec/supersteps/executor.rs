//! Runs a superstep: prepares its tasks, runs them, commits their writes, and reports the barrier.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::barrier::{tasks_ended, write_barrier};
use super::commit::{CommitTarget, commit, take_pending};
use super::driver::{Driver, names};
use super::in_flight::InFlight;
use super::interrupt_points::dispositions;
use crate::event::{AnyEvent, AnyEventKind};
use crate::exec::Extras;
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::watched;
use crate::exec::persistence::task_end::TaskResult;
use crate::exec::persistence::{Committed, Persistence, TaskDisposition};
use crate::exec::task::requests::{TaskEvent, next_event, serve};
use crate::exec::task::task_run::{TaskRun, prepare_tasks, run_task};
use crate::node::Scope;
use crate::question::Interrupt;
use crate::superstep::{Planner, Task};
use crate::task_services::DriverRequest;

/// Runs the frontier as one superstep, commits it and plans the next frontier. `memory` is that of the tasks of earlier
/// supersteps.
pub(in crate::exec) async fn run_superstep(
    driver: &mut Driver,
    persistence: &mut dyn Persistence,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    memory: &mut Vec<TaskRun>,
) -> Result<(), Abort> {
    driver.scope.superstep += 1;
    driver.emit_progress(|| AnyEventKind::SuperstepStarted {
        nodes: names(driver.plan(), frontier).map(Into::into).collect(),
    });
    let dispositions = if persistence.runs_all() && driver.plan().interrupt_points.is_empty() {
        Vec::new()
    } else {
        dispositions(driver, frontier, persistence)?
    };
    let superstep = driver.scope.superstep;
    let tasks = prepare_tasks(
        memory,
        driver.state.ty(),
        &driver.scope,
        superstep,
        frontier.drain(..),
    );
    let mut ended = Vec::new();
    let mut result = run_tasks(driver, persistence, tasks, dispositions, &mut ended).await;
    if persistence.is_stored() && (result.is_err() || !persistence.is_idle()) {
        let finished = match &*ended {
            [] => results(tasks.iter()),
            ended => results(ended.iter().map(|task| &**task)),
        };
        result = tasks_ended(driver, persistence, finished, result).await;
    }
    if let Err(abort) = result {
        return Err(abort.with_pending(take_pending(driver.plan(), tasks)));
    }
    let target = CommitTarget {
        plan: &driver.scope.shared.plan,
        state: &mut *driver.state,
        written: &mut driver.fast_path.written,
    };
    commit(target, tasks, planner, frontier, persistence)?;
    if persistence.is_stored() {
        write_barrier(driver, persistence, planner, frontier, tasks).await?;
    }
    driver.emit_progress(|| AnyEventKind::SuperstepFinished);
    driver.emit_values();
    Ok(())
}

/// The results of those tasks that have one.
fn results<'t>(tasks: impl Iterator<Item = &'t TaskRun>) -> Vec<TaskResult<'t>> {
    tasks
        .filter(|task| task.is_finished())
        .map(TaskRun::result)
        .collect()
}

/// Tells a listener of the outermost flow what its tasks wait for, while others run.
fn tell(extras: Option<&Extras>, scope: &Scope, interrupts: Vec<Interrupt>) {
    // A question of a sub-flow is told in each flow around it.
    if interrupts.is_empty() || scope.shared.parent.is_some() {
        return;
    }
    if let Some(sink) = extras.and_then(|extras| extras.sink.as_ref()) {
        sink.send(AnyEvent {
            namespace: scope.shared.namespace.clone(),
            superstep: scope.superstep,
            task: None,
            kind: AnyEventKind::Asked { interrupts },
        });
    }
}

/// Runs the tasks, as many at a time as the settings allow. If one ends the run, the effects of the others that are in flight are
/// recorded first. Of several tasks of a stored run, those that have ended are added to
/// `ended`, in the order in which they ended.
async fn run_tasks<'t>(
    driver: &mut Driver,
    persistence: &mut dyn Persistence,
    tasks: &'t mut [TaskRun],
    dispositions: Vec<TaskDisposition>,
    ended: &mut Vec<&'t mut TaskRun>,
) -> Result<(), Abort> {
    let max_concurrency = driver.max_concurrency();
    let Driver {
        flow,
        extras,
        watch,
        scope,
        state,
        fast_path,
        ..
    } = driver;
    let (flow, extras, state) = (&**flow, extras.as_deref(), &**state);
    let services = scope.shared.services.as_deref();
    // A task that is alone has ended when the superstep has.
    let has_others = persistence.is_stored() && tasks.len() > 1;
    let sort = |task: &'t mut TaskRun, waiting: &mut Vec<_>, ended: &mut Vec<_>| {
        if !task.is_finished() {
            waiting.push(task);
        } else if has_others {
            ended.push(task);
        }
    };
    let mut dispositions = dispositions.into_iter();
    let tasks = tasks.iter_mut();
    let mut tasks = tasks.map(|task| (task, dispositions.next().unwrap_or(TaskDisposition::Run)));
    // Those that wait for a person, and those that have got an answer.
    let (mut waiting, mut again) = (Vec::new(), Vec::<&'t mut TaskRun>::new());
    let place = pin!(None);
    let mut in_flight = InFlight::new(place);
    let result = loop {
        let started = poll_fn(|cx| {
            while in_flight.len() < max_concurrency
                && let Some((task, disposition)) = again
                    .pop()
                    .map(|task| (task, TaskDisposition::Run))
                    .or_else(|| tasks.next())
            {
                let make = || run_task(flow, extras, state, task, disposition);
                if let Poll::Ready(task) = in_flight.start(cx, make) {
                    sort(task?, &mut waiting, ended);
                }
            }
            Poll::Ready(Ok(()))
        });
        if let Err(abort) = started.await {
            break Err(abort);
        }
        let mut event = None;
        if in_flight.len() == 0 {
            // An answer may have arrived with the end of the last task.
            match services.filter(|_| !waiting.is_empty()) {
                Some(services) => match services.answered_tasks() {
                    answered if !answered.is_empty() => event = Some(TaskEvent::Answered(answered)),
                    _ if services.close_questions() => break Ok(()),
                    _ => event = Some(TaskEvent::Requested(DriverRequest::Answers)),
                },
                None => break Ok(()),
            }
        }
        if has_others {
            let mut finished = ended.iter().map(|task| task.result());
            let written = persistence.tasks_finished(&scope.shared.plan, &mut finished);
            if let Err(error) = written {
                break Err(Abort::of_thread(error));
            }
        }
        let event = match event {
            Some(event) => Ok(event),
            None => {
                let next = poll_fn(|cx| in_flight.poll_next(cx));
                next_event(watch, services, pin!(next)).await
            }
        };
        persistence.waited();
        match event {
            // A run that is stopped drops its tasks at once.
            Err(stop) => return Err(Abort::stopped(stop)),
            Ok(TaskEvent::Ended(Ok(task))) => sort(task, &mut waiting, ended),
            Ok(TaskEvent::Ended(Err(abort))) => break Err(abort),
            Ok(TaskEvent::Requested(request)) => {
                let committed = Committed {
                    state,
                    written: fast_path.written,
                };
                match serve(request, watch, persistence, committed).await {
                    Ok(told) => tell(extras, scope, told),
                    Err(abort) => break Err(abort),
                }
            }
            Ok(TaskEvent::Answered(ids)) => {
                let answered = |task: &mut &mut TaskRun| ids.contains(&task.scope.task_id());
                for task in waiting.extract_if(.., answered) {
                    task.begin_again(services);
                    again.push(task);
                }
            }
        }
    };
    if result.is_err()
        && let Some(services) = services
        && services.close_effects()
    {
        // Boxed, because it is rare. A stop ends it.
        let recorded = Box::pin(poll_fn(|cx| {
            while in_flight.len() > 0
                && let Poll::Ready(task) = in_flight.poll_next(cx)
            {
                // The first failure is the one that ends the run.
                if let Ok(task) = task {
                    sort(task, &mut waiting, ended);
                }
            }
            let has_result = |id| ended.iter().any(|task| task.scope.task_id() == id);
            services.poll_effects(cx, has_result)
        }));
        let _ = watched(watch, recorded).await;
    }
    result
}
