//! The parallel executor: any number of tasks in one superstep, with middleware, retries and timeouts.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::commit::{CommitTarget, SuperstepTasks as _, commit};
use super::driver::Driver;
use super::failure::handle_failure;
use super::slab::Slab;
use super::stored_steps::StoredSteps;
use crate::event::EventKind;
use crate::exec::control::abort::Abort;
use crate::exec::control::state_cell::StateCell;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::persistence::{Committed, TaskDisposition};
use crate::exec::task::requests::{TaskEvent, next_event};
use crate::exec::task::task_run::{EndedTask, SharedSnapshot, TaskRun};
use crate::flow::Flow;
use crate::superstep::{Planner, Task};

/// Every task returns its snapshot when it ends, and the slab drops the others.
const SHARED: &str = "no task holds the snapshot between supersteps";

/// Runs the tasks of a superstep concurrently. Its memory is reused from one superstep to the next.
pub(in crate::exec) struct ParallelExecutor<F: Flow, T, R> {
    slab: Slab<T>,
    launch: R,
    snapshot: Arc<SharedSnapshot<F>>,
    /// The snapshot of a task that has ended, for the next task: it costs less than another clone.
    spare: Option<Arc<SharedSnapshot<F>>>,
    /// Tasks of this superstep that have ended.
    ended: Vec<Box<TaskRun<F::State>>>,
    /// Memory for later tasks.
    idle: Vec<Box<TaskRun<F::State>>>,
    /// Memory for putting the tasks into the order of the frontier.
    places: Vec<Option<Box<TaskRun<F::State>>>>,
}

impl<F, T, R> ParallelExecutor<F, T, R>
where
    F: Flow,
    T: Future<Output = EndedTask<F>> + Send,
    R: Fn(Arc<SharedSnapshot<F>>, Box<TaskRun<F::State>>) -> T + Send,
{
    /// `launch` makes the future of a task. It is a parameter, because the type of the future has no name.
    pub(in crate::exec) fn new(driver: &Driver<F>, launch: R) -> Self {
        ParallelExecutor {
            slab: Slab::new(),
            launch,
            snapshot: Arc::new(SharedSnapshot {
                flow: Arc::clone(&driver.flow),
                extras: driver.extras.clone(),
                state: StateCell::empty(),
            }),
            spare: None,
            ended: Vec::new(),
            idle: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Runs the frontier as one superstep, commits it and plans the next frontier.
    pub(in crate::exec) async fn superstep<P: StoredSteps<F>>(
        &mut self,
        driver: &mut Driver<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
        persistence: &mut P,
    ) -> Result<(), Abort<F::State>> {
        let dispositions = if P::STORED {
            persistence.begin(driver, frontier)?
        } else {
            Vec::new()
        };
        let snapshot = Arc::get_mut(&mut self.snapshot).expect(SHARED);
        driver.state.lend(&mut snapshot.state);
        let mut result = self
            .run_tasks(driver, frontier, dispositions, persistence)
            .await;
        // After a failure or a stop, this drops the tasks that still run.
        self.slab.clear();
        self.spare = None;
        let snapshot = Arc::get_mut(&mut self.snapshot).expect(SHARED);
        driver.state.reclaim(&mut snapshot.state);
        if P::STORED {
            // In the order in which the tasks ended: those that were stored while others ran are the beginning of the list.
            result = persistence.end(driver, &self.ended, result).await;
        }
        // Tasks that never wait end in order.
        if !self.ended.is_sorted_by_key(|task| task.order) {
            self.order_ended();
        }
        if let Err(abort) = result {
            let pending = self.ended.take_pending(driver.plan());
            return Err(abort.with_pending(pending));
        }
        self.commit(driver, planner, frontier, persistence)?;
        if P::STORED {
            persistence
                .committed(driver, planner, frontier, &self.ended)
                .await?;
        }
        driver.emit(|| EventKind::SuperstepFinished);
        driver.emit_values();
        self.idle.append(&mut self.ended);
        Ok(())
    }

    /// Runs all tasks of the frontier, as many at a time as the settings allow.
    async fn run_tasks<P: StoredSteps<F>>(
        &mut self,
        driver: &mut Driver<F>,
        frontier: &mut Vec<Task>,
        dispositions: Vec<TaskDisposition<F::State>>,
        persistence: &mut P,
    ) -> Result<(), Abort<F::State>> {
        let mut dispositions = dispositions.into_iter();
        let mut waiting = frontier.drain(..).enumerate();
        let max_concurrency = driver.max_concurrency();
        loop {
            let mut ended = None;
            while ended.is_none() && self.slab.running() < max_concurrency {
                let Some((order, task)) = waiting.next() else {
                    break;
                };
                // Known at compile time where nothing is stored.
                let disposition = if P::STORED { dispositions.next() } else { None };
                if let Poll::Ready(output) = self.start(driver, order, task, disposition) {
                    ended = Some(output);
                }
            }
            let ended = match ended {
                Some(ended) => ended,
                None if self.slab.running() == 0 => return Ok(()),
                None => self.next_ended(driver, persistence).await?,
            };
            self.finish_task(driver, ended)?;
        }
    }

    /// Starts a task, or takes its stored result where it finished before. A task that waits for an answer is not started.
    /// Returns the result if the task ended at once.
    fn start(
        &mut self,
        driver: &Driver<F>,
        order: usize,
        task: Task,
        disposition: Option<TaskDisposition<F::State>>,
    ) -> Poll<EndedTask<F>> {
        if matches!(disposition, Some(TaskDisposition::Wait)) {
            return Poll::Pending;
        }
        let idle = self.idle.pop();
        let mut run = idle.unwrap_or_else(|| Box::new(TaskRun::new(&driver.scope)));
        run.begin(order, task, driver.scope.superstep);
        match disposition {
            Some(TaskDisposition::Finished(finished)) => {
                run.effects = finished.effects;
                run.end = finished.end;
                driver.emit_of(&run.scope, || EventKind::NodeRestored {
                    update: run.effects.update.clone(),
                });
            }
            Some(TaskDisposition::Skip) => {
                run.end = TaskEnd::Ignored;
                driver.emit_of(&run.scope, || EventKind::NodeSkipped);
            }
            _ => {
                let spare = self.spare.take();
                let snapshot = spare.unwrap_or_else(|| Arc::clone(&self.snapshot));
                return self.slab.start(|| (self.launch)(snapshot, run));
            }
        }
        self.ended.push(run);
        Poll::Pending
    }

    /// Waits for the next task that ends, and serves the requests of tasks until then.
    async fn next_ended<P: StoredSteps<F>>(
        &mut self,
        driver: &mut Driver<F>,
        persistence: &mut P,
    ) -> Result<EndedTask<F>, Abort<F::State>> {
        let Driver {
            scope,
            fast_path,
            watch,
            ..
        } = driver;
        loop {
            if P::STORED {
                let finished = self.ended.iter().map(|task| task.result());
                persistence
                    .tasks_finished(&scope.shared.plan, finished)
                    .map_err(Abort::of_thread)?;
            }
            // Known at compile time where nothing is stored.
            let services = if P::STORED {
                scope.shared.services.as_deref()
            } else {
                None
            };
            let event = next_event(watch, services, pin!(self.slab.next())).await;
            match event.map_err(Abort::stopped)? {
                TaskEvent::Ended(ended) => return Ok(ended),
                TaskEvent::Requested(request) => {
                    let committed = Committed {
                        state: self.snapshot.state.get(),
                        written: fast_path.written,
                    };
                    persistence.serve(request, watch, committed).await?;
                }
            }
        }
    }

    /// Takes a task that has ended out of flight.
    fn finish_task(
        &mut self,
        driver: &Driver<F>,
        ended: EndedTask<F>,
    ) -> Result<(), Abort<F::State>> {
        let EndedTask {
            mut task,
            result,
            snapshot,
        } = ended;
        self.spare = Some(snapshot);
        if matches!(task.end, TaskEnd::Waiting) {
            self.idle.push(task);
            return Ok(());
        }
        if let Err(failure) = result {
            task.end = handle_failure(
                driver.extras.as_deref(),
                driver.plan(),
                &task.scope,
                failure,
                &mut task.effects,
            )?;
        }
        self.ended.push(task);
        Ok(())
    }

    /// Puts the ended tasks into the order of the frontier. Each has a place of its own, so nothing needs to be compared.
    fn order_ended(&mut self) {
        for task in self.ended.drain(..) {
            let place = task.order;
            if place >= self.places.len() {
                self.places.resize_with(place + 1, || None);
            }
            self.places[place] = Some(task);
        }
        for place in &mut self.places {
            self.ended.extend(place.take());
        }
        self.places.clear();
    }

    fn commit<P: StoredSteps<F>>(
        &mut self,
        driver: &mut Driver<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
        persistence: &mut P,
    ) -> Result<(), Abort<F::State>> {
        let Driver {
            scope,
            state,
            fast_path,
            ..
        } = driver;
        let target = CommitTarget {
            plan: &scope.shared.plan,
            state: state.get_mut(),
            written: &mut fast_path.written,
        };
        commit(target, &mut self.ended, planner, frontier, persistence)
    }
}
