//! Runs a superstep: prepares its tasks, runs them, commits their writes, and reports the barrier.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use petalflow_graph::NodeIdx;

use super::barrier::{tasks_ended, write_barrier};
use super::commit::{CommitTarget, commit, take_pending};
use super::driver::{Driver, names};
use super::in_flight::InFlight;
use super::interrupt_points::{decided, dispositions};
use crate::event::{AnyEvent, AnyEventKind};
use crate::exec::Extras;
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::{Watch, watched};
use crate::exec::persistence::task_end::TaskResult;
use crate::exec::persistence::{Committed, Persistence, TaskDisposition};
use crate::exec::task::requests::{TaskEvent, next_event, serve};
use crate::exec::task::task_run::{TaskRun, prepare_tasks, run_task};
use crate::ids::TaskId;
use crate::node::RunShared;
use crate::superstep::{Planner, Task};
use crate::task_services::{DriverRequest, TaskServices};

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
    let messages = if persistence.takes_messages() {
        let read = persistence.read_messages().await;
        read.map_err(|error| {
            Abort::of_thread(error).with_pending(take_pending(driver.plan(), tasks))
        })?
    } else {
        Vec::new()
    };
    let target = CommitTarget {
        plan: &driver.scope.shared.plan,
        state: &mut *driver.state,
        written: &mut driver.fast_path.written,
    };
    let refused = commit(target, tasks, messages, planner, frontier, persistence)?;
    if persistence.is_stored() {
        write_barrier(driver, persistence, planner, frontier, tasks).await?;
    }
    if let Some(refused) = refused {
        return Err(refused.into_abort());
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

/// Serves the request of a task. If tasks have asked, tells a listener of the outermost flow what they wait for, while others run.
async fn serve_and_tell(
    request: DriverRequest,
    (extras, run, superstep): (Option<&Extras>, &RunShared, u64),
    watch: &mut Option<Box<Watch>>,
    persistence: &mut dyn Persistence,
    committed: Committed<'_>,
) -> Result<(), Abort> {
    let told = serve(request, watch, persistence, committed).await?;
    // A question of a sub-flow is told in each flow around it.
    if told.is_empty() || run.parent.is_some() {
        return Ok(());
    }
    if let Some(sink) = extras.and_then(|extras| extras.sink.as_ref()) {
        sink.send(AnyEvent {
            namespace: run.namespace.clone(),
            superstep,
            task: None,
            kind: AnyEventKind::Asked { interrupts: told },
        });
    }
    // Those who follow the thread read the stored events.
    let stored = watched(watch, persistence.questions_told()).await;
    stored.map_err(Abort::stopped)?.map_err(Abort::of_thread)
}

/// Runs the tasks, as many at a time as the settings allow. If one ends the run, the effects of the others that are in flight are
/// recorded first. Of several tasks of a stored run, those that have ended are added to `ended`, in the order in which they ended.
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
    let keeps_ended = persistence.is_stored() && tasks.len() > 1;
    let mut polled = PolledTasks::new(keeps_ended, ended);
    let mut dispositions = dispositions.into_iter();
    let tasks = tasks.iter_mut();
    let mut tasks = tasks.map(|task| (task, dispositions.next().unwrap_or(TaskDisposition::Run)));
    let place = pin!(None);
    let mut in_flight = InFlight::new(place);
    // The tasks that have ended while a request was served.
    let mut ended_meanwhile = VecDeque::new();
    let result = loop {
        let started = poll_fn(|cx| {
            while in_flight.len() < max_concurrency
                && let Some((task, disposition)) = polled.next_again().or_else(|| tasks.next())
            {
                let make = || run_task(flow, extras, state, task, disposition);
                if let Poll::Ready(task) = in_flight.start(cx, make) {
                    polled.add(task?);
                }
            }
            Poll::Ready(Ok(()))
        });
        if let Err(abort) = started.await {
            break Err(abort);
        }
        let rest = match in_flight.len() + ended_meanwhile.len() {
            0 => match at_rest(services, &polled) {
                Some(event) => Some(event),
                None => break Ok(()),
            },
            _ => None,
        };
        if polled.keeps_ended {
            let mut finished = polled.ended.iter().map(|task| task.result());
            let written = persistence.tasks_finished(&scope.shared.plan, &mut finished);
            if let Err(error) = written {
                break Err(Abort::of_thread(error));
            }
        }
        let event = if let Some(event) = rest {
            Ok(event)
        } else if let Some(ended) = ended_meanwhile.pop_front() {
            Ok(TaskEvent::Ended(ended))
        } else {
            let next = poll_fn(|cx| in_flight.poll_next(cx));
            next_event(watch, services, pin!(next)).await
        };
        persistence.waited();
        match event {
            // A run that is stopped drops its tasks at once.
            Err(stop) => return Err(Abort::stopped(stop)),
            Ok(TaskEvent::Ended(Ok(task))) => polled.add(task),
            Ok(TaskEvent::Ended(Err(abort))) => break Err(abort),
            Ok(TaskEvent::Requested(request)) => {
                let committed = Committed {
                    state,
                    written: fast_path.written,
                };
                let listeners = (extras, &*scope.shared, scope.superstep);
                let served = serve_and_tell(request, listeners, watch, persistence, committed);
                // The tasks go on: a sub-flow may be within a transaction of the store for which the write of this flow waits.
                let served = in_flight
                    .poll_beside(pin!(served), &mut ended_meanwhile)
                    .await;
                if let Err(abort) = served {
                    break Err(abort);
                }
            }
            Ok(TaskEvent::Ready(ids)) => {
                let decided = |node| decided(scope, state, node, persistence);
                if let Err(abort) = polled.begin_again(&ids, services, decided) {
                    break Err(abort);
                }
            }
        }
    };
    ended_meanwhile
        .into_iter()
        .flatten()
        .for_each(|task| polled.add(task));
    if result.is_err()
        && let Some(services) = services
        && services.close_effects()
    {
        // Boxed, because it is rare. A stop ends it.
        let recorded = Box::pin(record_effects(&mut in_flight, &mut polled, services));
        let _ = watched(watch, recorded).await;
    }
    result
}

/// Lets the effects that are in flight end and be recorded. The tasks that end meanwhile are added to `polled`.
async fn record_effects<'t, T: Future<Output = Result<&'t mut TaskRun, Abort>>>(
    in_flight: &mut InFlight<'_, T>,
    polled: &mut PolledTasks<'_, 't>,
    services: &TaskServices,
) {
    poll_fn(|cx| {
        while in_flight.len() > 0
            && let Poll::Ready(task) = in_flight.poll_next(cx)
        {
            // The first failure is the one that ends the run.
            if let Ok(task) = task {
                polled.add(task);
            }
        }
        let ended = &polled.ended;
        let has_result = |id| ended.iter().any(|task| task.scope.task_id() == id);
        services.poll_effects(cx, has_result)
    })
    .await;
}

/// What comes next when no task is in flight. `None`: the superstep has ended.
fn at_rest<T>(
    services: Option<&TaskServices>,
    polled: &PolledTasks<'_, '_>,
) -> Option<TaskEvent<T>> {
    let services = services.filter(|_| !polled.waiting.is_empty())?;
    // An answer may have arrived with the end of the last task, or a time have come.
    let ready = services.ready_tasks();
    if !ready.is_empty() {
        Some(TaskEvent::Ready(ready))
    } else if services.close_questions() {
        None
    } else {
        Some(TaskEvent::Requested(DriverRequest::Answers))
    }
}

/// The tasks of a superstep that are not in flight, after they were polled.
struct PolledTasks<'e, 't> {
    /// Whether those that have ended are kept, to record them before the superstep ends.
    keeps_ended: bool,
    ended: &'e mut Vec<&'t mut TaskRun>,
    /// Those that wait for a person or a time.
    waiting: Vec<&'t mut TaskRun>,
    /// Those that have waited and run again, and what to do with them.
    ready: Vec<(&'t mut TaskRun, TaskDisposition)>,
}

impl<'e, 't> PolledTasks<'e, 't> {
    fn new(keeps_ended: bool, ended: &'e mut Vec<&'t mut TaskRun>) -> Self {
        PolledTasks {
            keeps_ended,
            ended,
            waiting: Vec::new(),
            ready: Vec::new(),
        }
    }

    fn add(&mut self, task: &'t mut TaskRun) {
        if !task.is_finished() {
            self.waiting.push(task);
        } else if self.keeps_ended {
            self.ended.push(task);
        }
    }

    /// Lets these tasks run again, which have waited. `decided` tells what to do with a task of a node for which
    /// a person has decided.
    fn begin_again(
        &mut self,
        ids: &[TaskId],
        services: Option<&TaskServices>,
        decided: impl Fn(NodeIdx) -> Result<TaskDisposition, Abort>,
    ) -> Result<(), Abort> {
        for task in std::mem::take(&mut self.waiting) {
            if !ids.contains(&task.waits_as()) {
                self.waiting.push(task);
                continue;
            }
            let disposition = if task.is_undecided {
                decided(task.scope.node)?
            } else {
                TaskDisposition::Run
            };
            task.begin_again(services);
            self.ready.push((task, disposition));
        }
        Ok(())
    }

    fn next_again(&mut self) -> Option<(&'t mut TaskRun, TaskDisposition)> {
        self.ready.pop()
    }
}
