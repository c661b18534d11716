//! The general path: any number of tasks in one superstep, with all that may surround them.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use super::Extras;
use super::abort::Abort;
use super::attempt::attempts;
use super::driver::Driver;
use super::handle_failure::handle_failure;
use super::persistence::Persistence;
use super::slab::Slab;
use crate::delivery::Delivery;
use crate::durable::TaskDisposition;
use crate::error::Failure;
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, poll_once};
use crate::ids::TaskId;
use crate::node::{Effects, Scope};
use crate::state::{KeySet, State, Update as _, WriteError};
use crate::superstep::{Outcome, Planner, Task, apply, prepare};

/// A task in flight, with the memory that it and its successors use.
pub(crate) struct TaskRun<S: State> {
    /// Its place in the frontier.
    order: usize,
    scope: Scope,
    effects: Effects<S>,
    end: TaskEnd,
}

/// How a job ended.
pub(crate) enum TaskEnd {
    Done,
    Caught {
        to: u32,
        failure: Delivery,
    },
    Ignored,
    /// It has asked a person, and waits for the answer.
    Parked,
}

/// What the tasks of a fork see, behind one counted pointer.
pub(crate) struct SharedSnapshot<F: Flow> {
    flow: Arc<F>,
    extras: Option<Arc<Extras<F::State>>>,
    /// It moves in before the tasks and home after them.
    pub(crate) state: Option<F::State>,
}

pub(crate) type SnapshotRef<F> = Arc<SharedSnapshot<F>>;

/// A job that has ended, and how.
pub(crate) type EndedTask<S> = (Box<TaskRun<S>>, Result<(), Failure>);

/// The memory of forks, kept from one to the next.
pub(crate) struct ParallelExecutor<F: Flow, T, R> {
    slab: Slab<T>,
    launch: R,
    frame: SnapshotRef<F>,
    ended: Vec<Box<TaskRun<F::State>>>,
    idle: Vec<Box<TaskRun<F::State>>>,
}

impl<F, T, R> ParallelExecutor<F, T, R>
where
    F: Flow,
    T: Future<Output = EndedTask<F::State>> + Send,
    R: Fn(SnapshotRef<F>, Box<TaskRun<F::State>>) -> T + Send,
{
    /// `launch` makes the future of a job; a parameter, because its type has no name.
    pub(crate) fn new(driver: &Driver<F>, launch: R) -> Self {
        ParallelExecutor {
            slab: Slab::new(),
            launch,
            frame: Arc::new(SharedSnapshot {
                flow: Arc::clone(&driver.flow),
                extras: driver.extras.clone(),
                state: None,
            }),
            ended: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// Runs the frontier as one superstep, commits it and plans the next frontier.
    pub(crate) async fn superstep<L: Persistence<F>>(
        &mut self,
        driver: &mut Driver<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
        persistence: &mut L,
    ) -> Result<(), Abort<F::State>> {
        let dispositions = persistence.dispositions(driver, frontier)?;
        Arc::get_mut(&mut self.frame)
            .expect("no task is in flight between supersteps")
            .state = driver.state.take();
        let result = self.run(driver, frontier, dispositions, persistence).await;
        // A failure, or whatever stopped the run, cancels what is still in flight.
        self.slab.clear();
        driver.state = Arc::get_mut(&mut self.frame).and_then(|stage| stage.state.take());
        // In the order in which they ended: what was written down while the others ran is the beginning of the list.
        let kept = if L::STORED {
            persistence.keep(driver, &self.ended, &result).await
        } else {
            Ok(())
        };
        self.ended.sort_unstable_by_key(|job| job.order);
        result.and(kept).map_err(|abort| self.pending(abort))?;
        let overwritten = self.prepare(driver)?;
        if L::STORED {
            // Whatever can be refused is, before the state moves on: it would be stored with the tasks that led to it.
            self.advance(driver, planner, frontier)?;
            let updates = self.ended.iter().map(|job| &job.effects.update);
            persistence.absorb(updates, overwritten)?;
            self.commit(driver, overwritten);
            persistence
                .record(driver, &self.ended, planner, frontier)
                .await?;
        } else {
            self.commit(driver, overwritten);
            self.advance(driver, planner, frontier)?;
        }
        driver.tell(|| crate::EventKind::SuperstepFinished);
        driver.tell_values();
        self.idle.append(&mut self.ended);
        Ok(())
    }

    /// Runs all tasks of the frontier, as many at a time as the settings allow.
    async fn run<L: Persistence<F>>(
        &mut self,
        driver: &mut Driver<F>,
        frontier: &mut Vec<Task>,
        dispositions: Vec<TaskDisposition<F::State>>,
        persistence: &mut L,
    ) -> Result<(), Abort<F::State>> {
        let mut dispositions = dispositions.into_iter();
        let mut waiting = frontier.drain(..).enumerate();
        loop {
            let mut ended = None;
            while ended.is_none() && self.slab.running() < driver.max_concurrency() {
                let Some((order, task)) = waiting.next() else {
                    break;
                };
                // Known while compiling, where nothing is stored.
                let disposition = if L::STORED { dispositions.next() } else { None };
                if matches!(disposition, Some(TaskDisposition::Waits)) {
                    continue;
                }
                let mut job = self
                    .idle
                    .pop()
                    .unwrap_or_else(|| Box::new(TaskRun::new(&driver.scope)));
                job.begin(order, task, driver.scope.superstep);
                if let Some(TaskDisposition::FinishedTask(finished)) = disposition {
                    job.effects = finished.effects;
                    job.end = finished.end;
                    self.ended.push(job);
                    continue;
                }
                let frame = Arc::clone(&self.frame);
                if let Poll::Ready(output) = self.slab.start(|| (self.launch)(frame, job)) {
                    ended = Some(output);
                }
            }
            let (mut job, result) = match ended {
                Some(ended) => ended,
                None if self.slab.running() == 0 => return Ok(()),
                None => {
                    let ParallelExecutor {
                        frame, slab, ended, ..
                    } = &mut *self;
                    persistence.next(driver, frame, slab, ended).await?
                }
            };
            if matches!(job.end, TaskEnd::Parked) {
                self.idle.push(job);
                continue;
            }
            job.end = match result {
                Ok(()) => TaskEnd::Done,
                Err(failure) => handle_failure(
                    driver.extras.as_deref(),
                    driver.plan(),
                    &job.scope,
                    failure,
                    &mut job.effects,
                )?,
            };
            self.ended.push(job);
        }
    }

    /// Whether all writes can be folded; and which keys they overwrite.
    fn prepare(&mut self, driver: &Driver<F>) -> Result<KeySet, Abort<F::State>> {
        let state = driver
            .state
            .as_ref()
            .expect("every task has let go of the state");
        prepare(state, self.ended.iter().map(|job| &job.effects.update))
            .map_err(|error| self.pending(Abort::refused(self.writers(&error), error)))
    }

    /// Folds all writes in the order of the tasks.
    fn commit(&mut self, driver: &mut Driver<F>, overwritten: KeySet) {
        apply(
            driver
                .state
                .as_mut()
                .expect("every task has let go of the state"),
            &mut driver.lane.written,
            overwritten,
            self.ended.iter_mut().map(|job| &mut job.effects.update),
        );
    }

    /// Plans the next frontier.
    fn advance(
        &self,
        driver: &Driver<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Abort<F::State>> {
        let outcomes = self
            .ended
            .iter()
            .map(|job| (job.scope.node, job.end.outcome(&job.effects)));
        let planned = planner.advance(driver.plan(), outcomes, frontier);
        planned.map_err(|missing| Abort::new(driver.no_edge(&missing)))
    }

    /// What has finished is kept beside the state.
    fn pending(&mut self, abort: Abort<F::State>) -> Abort<F::State> {
        let finished = self.ended.iter_mut().map(|job| {
            (
                job.scope.node().to_string(),
                std::mem::take(&mut job.effects.update),
            )
        });
        abort.beside(finished.collect())
    }

    /// The nodes of this superstep that wrote the key.
    fn writers(&self, error: &WriteError) -> Vec<String> {
        let key = F::State::KEYS
            .iter()
            .position(|key| key.name == error.key)
            .map_or(KeySet::NONE, KeySet::of);
        let wrote =
            |job: &TaskRun<F::State>| !job.effects.update.written().intersection(key).is_empty();
        self.ended
            .iter()
            .filter(|job| wrote(job))
            .map(|job| job.scope.node().to_string())
            .collect()
    }
}

/// One task of a fork. It owns all that it needs, so that its slot can be kept from superstep to superstep.
pub(crate) async fn run_job<F: Flow, L: Persistence<F>>(
    frame: SnapshotRef<F>,
    mut job: Box<TaskRun<F::State>>,
) -> EndedTask<F::State> {
    let SharedSnapshot {
        flow,
        extras,
        state,
    } = &*frame;
    let snapshot = state
        .as_ref()
        .expect("the state is in the frame during a fork");
    let TaskRun {
        scope,
        effects,
        end,
        ..
    } = &mut *job;
    let task = (scope.superstep, scope.node, scope.send.get());
    let busy = extras
        .as_ref()
        .is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let result = if busy || !scope.shared.plan.policies[scope.node as usize].is_none() {
        let extras = extras.clone().unwrap_or_default();
        let shared = Arc::clone(&scope.shared);
        let attempts: BoxFuture<'_, _> =
            Box::pin(async move { attempts(&**flow, &extras, scope, snapshot, effects).await });
        L::attend(&shared, task, end, std::pin::pin!(attempts)).await
    } else {
        let node = scope.node;
        let mut step = Step::task(scope, snapshot, effects);
        // Pinned here, so that its memory is not there once for either way.
        let mut once = std::pin::pin!(flow.step(node, &mut step));
        let once = std::pin::pin!(poll_fn(move |cx| poll_once(once.as_mut(), cx)));
        L::attend(&scope.shared, task, end, once).await
    };
    // Before the job is handed back: the driver takes the state home when the last task has let go of it.
    drop(frame);
    (job, result)
}

impl<S: State> TaskRun<S> {
    /// The task, as a writer takes it.
    pub(crate) fn finished(&self) -> (TaskId, u32, &Effects<S>, &TaskEnd) {
        (
            self.scope.task_id(),
            self.scope.node,
            &self.effects,
            &self.end,
        )
    }

    /// Its node.
    pub(crate) fn node(&self) -> u32 {
        self.scope.node
    }

    /// A task that has ended outside a fork.
    pub(crate) fn of(scope: Scope, effects: Effects<S>, end: TaskEnd) -> Self {
        TaskRun {
            order: 0,
            scope,
            effects,
            end,
        }
    }

    pub(crate) fn into_parts(self) -> (Effects<S>, TaskEnd) {
        (self.effects, self.end)
    }

    fn new(scope: &Scope) -> Self {
        TaskRun {
            order: 0,
            scope: scope.clone(),
            effects: Effects::default(),
            end: TaskEnd::Done,
        }
    }

    fn begin(&mut self, order: usize, task: Task, superstep: u64) {
        self.order = order;
        self.scope.superstep = superstep;
        self.scope.node = task.node;
        self.scope.attempt = 1;
        self.scope.send = task.send.into();
        self.scope.item = task.item.into();
        self.scope.delivery = task.delivery;
        self.effects.clear();
        self.end = TaskEnd::Done;
    }
}

impl TaskEnd {
    pub(crate) fn outcome<'a, S: State>(&'a self, effects: &'a Effects<S>) -> Outcome<'a> {
        match self {
            TaskEnd::Done => Outcome::done(effects),
            TaskEnd::Caught { to, failure } => Outcome::Caught { to: *to, failure },
            TaskEnd::Ignored | TaskEnd::Parked => Outcome::Ignored,
        }
    }
}
