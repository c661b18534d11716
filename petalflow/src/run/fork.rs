//! The general path: any number of tasks in one superstep, with all that may surround them.
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

use std::future::Future;
use std::sync::Arc;
use std::task::Poll;

use super::Extras;
use super::attempt::attempts;
use super::drive::{Broken, Engine, survive};
use super::guard::{Failure, caught, watched};
use super::slab::Slab;
use crate::flow::Step;
use crate::middleware::BoxFuture;
use crate::node::{Delivery, Effects, Scope};
use crate::superstep::{Outcome, Planner, Task, apply, prepare};
use crate::{Flow, KeySet, State, Update as _, WriteError};

/// A task in flight, with the memory that it and its successors use.
pub(super) struct Job<S: State> {
    /// Its place in the frontier.
    order: usize,
    scope: Scope,
    effects: Effects<S>,
    end: JobEnd,
}

/// How a job ended.
pub(super) enum JobEnd {
    Done,
    Caught { to: u32, failure: Delivery },
    Ignored,
}

/// Where the tasks of a fork see the state: it moves in before them and home after them.
pub(super) type Frame<S> = Arc<Option<S>>;

/// A job that has ended, and how.
pub(super) type Ended<S> = (Box<Job<S>>, Result<(), Failure>);

/// The memory of forks, kept from one to the next.
pub(super) struct Crew<F: Flow, T, L> {
    slab: Slab<T>,
    launch: L,
    frame: Frame<F::State>,
    ended: Vec<Box<Job<F::State>>>,
    idle: Vec<Box<Job<F::State>>>,
}

impl<F, T, L> Crew<F, T, L>
where
    F: Flow,
    T: Future<Output = Ended<F::State>>,
    L: Fn(Arc<F>, Option<Arc<Extras<F::State>>>, Frame<F::State>, Box<Job<F::State>>) -> T,
{
    /// `launch` makes the future of a job; a parameter, because its type has no name.
    pub(super) fn new(launch: L) -> Self {
        Crew {
            slab: Slab::new(),
            launch,
            frame: Arc::new(None),
            ended: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// Runs the frontier as one superstep, commits it and plans the next frontier.
    pub(super) async fn superstep(
        &mut self,
        engine: &mut Engine<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Broken<F::State>> {
        *Arc::get_mut(&mut self.frame).expect("no task is in flight between supersteps") =
            engine.state.take();
        let result = self.run(engine, frontier).await;
        // A failure, or whatever stopped the run, cancels what is still in flight.
        self.slab.clear();
        engine.state = Arc::get_mut(&mut self.frame).and_then(Option::take);
        self.ended.sort_unstable_by_key(|job| job.order);
        result.map_err(|broken| self.pending(broken))?;
        self.commit(engine)?;
        engine.tell(|| crate::EventKind::SuperstepFinished);
        let outcomes = self
            .ended
            .iter()
            .map(|job| (job.scope.node, job.end.outcome(&job.effects)));
        let planned = planner.advance(engine.wiring(), outcomes, frontier);
        planned.map_err(|missing| Broken::new(engine.no_edge(&missing)))?;
        self.idle.append(&mut self.ended);
        Ok(())
    }

    /// Runs all tasks of the frontier, as many at a time as the settings allow.
    async fn run(
        &mut self,
        engine: &mut Engine<F>,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Broken<F::State>> {
        let mut waiting = frontier.drain(..).enumerate();
        loop {
            let mut ended = None;
            while ended.is_none() && self.slab.running() < engine.max_concurrency() {
                let Some((order, task)) = waiting.next() else {
                    break;
                };
                let mut job = self
                    .idle
                    .pop()
                    .unwrap_or_else(|| Box::new(Job::new(&engine.scope)));
                job.begin(order, task, engine.scope.superstep);
                let future = (self.launch)(
                    Arc::clone(&engine.flow),
                    engine.extras.clone(),
                    Arc::clone(&self.frame),
                    job,
                );
                if let Poll::Ready(output) = self.slab.start(future) {
                    ended = Some(output);
                }
            }
            let (mut job, result) = match ended {
                Some(ended) => ended,
                None if self.slab.running() == 0 => return Ok(()),
                None => watched(&mut engine.watch, self.slab.next())
                    .await
                    .map_err(|stop| Broken::new(stop.into()))?,
            };
            job.end = match result {
                Ok(()) => JobEnd::Done,
                Err(failure) => survive(
                    engine.extras.as_deref(),
                    engine.wiring(),
                    &job.scope,
                    failure,
                    &mut job.effects,
                )?,
            };
            self.ended.push(job);
        }
    }

    /// Folds all writes in the order of the tasks, or none.
    fn commit(&mut self, engine: &mut Engine<F>) -> Result<(), Broken<F::State>> {
        let state = engine
            .state
            .as_mut()
            .expect("every task has let go of the state");
        match prepare(state, self.ended.iter().map(|job| &job.effects.update)) {
            Ok(overwritten) => {
                apply(
                    state,
                    &mut engine.lane.written,
                    overwritten,
                    self.ended.iter_mut().map(|job| &mut job.effects.update),
                );
                Ok(())
            }
            Err(error) => Err(self.pending(Broken::refused(self.writers(&error), error))),
        }
    }

    /// What has finished is kept beside the state.
    fn pending(&mut self, mut broken: Broken<F::State>) -> Broken<F::State> {
        let finished = self.ended.iter_mut().map(|job| {
            (
                job.scope.node().to_string(),
                std::mem::take(&mut job.effects.update),
            )
        });
        broken.pending = finished.collect();
        broken
    }

    /// The nodes of this superstep that wrote the key.
    fn writers(&self, error: &WriteError) -> Vec<String> {
        let key = F::State::KEYS
            .iter()
            .position(|key| key.name == error.key)
            .map_or(KeySet::NONE, KeySet::of);
        let wrote =
            |job: &Job<F::State>| !job.effects.update.written().intersection(key).is_empty();
        self.ended
            .iter()
            .filter(|job| wrote(job))
            .map(|job| job.scope.node().to_string())
            .collect()
    }
}

/// One task of a fork. It owns all that it needs, so that its slot can be kept from superstep to superstep.
pub(super) async fn run_job<F: Flow>(
    flow: Arc<F>,
    extras: Option<Arc<Extras<F::State>>>,
    frame: Frame<F::State>,
    mut job: Box<Job<F::State>>,
) -> Ended<F::State> {
    let snapshot = Option::as_ref(&frame).expect("the state is in the frame during a fork");
    let Job { scope, effects, .. } = &mut *job;
    let busy = extras
        .as_ref()
        .is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let result = if busy || !scope.shared.wiring.policies[scope.node as usize].is_none() {
        let extras = extras.unwrap_or_default();
        let attempts: BoxFuture<'_, _> =
            Box::pin(async move { attempts(&*flow, &extras, scope, snapshot, effects).await });
        attempts.await
    } else {
        caught(flow.step(scope.node, &mut Step::task(scope, snapshot, effects))).await
    };
    // Before the job is handed back: the driver takes the state home when the last task has let go of it.
    drop(frame);
    (job, result)
}

impl<S: State> Job<S> {
    fn new(scope: &Scope) -> Self {
        Job {
            order: 0,
            scope: scope.clone(),
            effects: Effects::default(),
            end: JobEnd::Done,
        }
    }

    fn begin(&mut self, order: usize, task: Task, superstep: u64) {
        self.order = order;
        self.scope.superstep = superstep;
        self.scope.node = task.node;
        self.scope.attempt = 1;
        self.scope.send = task.send;
        self.scope.item = task.item;
        self.scope.delivery = task.delivery;
        self.effects.clear();
        self.end = JobEnd::Done;
    }
}

impl JobEnd {
    pub(super) fn outcome<'a, S: State>(&'a self, effects: &'a Effects<S>) -> Outcome<'a> {
        match self {
            JobEnd::Done => Outcome::done(effects),
            JobEnd::Caught { to, failure } => Outcome::Caught { to: *to, failure },
            JobEnd::Ignored => Outcome::Ignored,
        }
    }
}
