//! The general path: any number of tasks in one superstep, with all that may surround them.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use super::Extras;
use super::attempt::attempts;
use super::broken::Broken;
use super::drive::{Engine, survive};
use super::ledger::Ledger;
use super::slab::Slab;
use super::stored::Fate;
use crate::delivery::Delivery;
use crate::error::Failure;
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, poll_once};
use crate::ids::TaskId;
use crate::node::{Effects, Scope};
use crate::state::{KeySet, State, Update as _, WriteError};
use crate::superstep::{Outcome, Planner, Task, apply, prepare};

/// A task in flight, with the memory that it and its successors use.
pub(super) struct Job<S: State> {
    /// Its place in the frontier.
    order: usize,
    scope: Scope,
    effects: Effects<S>,
    end: JobEnd,
}

/// How a job ended.
pub(crate) enum JobEnd {
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
pub(super) struct Stage<F: Flow> {
    flow: Arc<F>,
    extras: Option<Arc<Extras<F::State>>>,
    /// It moves in before the tasks and home after them.
    pub(super) state: Option<F::State>,
}

pub(super) type Frame<F> = Arc<Stage<F>>;

/// A job that has ended, and how.
pub(super) type Ended<S> = (Box<Job<S>>, Result<(), Failure>);

/// The memory of forks, kept from one to the next.
pub(super) struct Crew<F: Flow, T, R> {
    slab: Slab<T>,
    launch: R,
    frame: Frame<F>,
    ended: Vec<Box<Job<F::State>>>,
    idle: Vec<Box<Job<F::State>>>,
}

impl<F, T, R> Crew<F, T, R>
where
    F: Flow,
    T: Future<Output = Ended<F::State>> + Send,
    R: Fn(Frame<F>, Box<Job<F::State>>) -> T + Send,
{
    /// `launch` makes the future of a job; a parameter, because its type has no name.
    pub(super) fn new(engine: &Engine<F>, launch: R) -> Self {
        Crew {
            slab: Slab::new(),
            launch,
            frame: Arc::new(Stage {
                flow: Arc::clone(&engine.flow),
                extras: engine.extras.clone(),
                state: None,
            }),
            ended: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// Runs the frontier as one superstep, commits it and plans the next frontier.
    pub(super) async fn superstep<L: Ledger<F>>(
        &mut self,
        engine: &mut Engine<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
        ledger: &mut L,
    ) -> Result<(), Broken<F::State>> {
        let fates = ledger.fates(engine, frontier)?;
        Arc::get_mut(&mut self.frame)
            .expect("no task is in flight between supersteps")
            .state = engine.state.take();
        let result = self.run(engine, frontier, fates, ledger).await;
        // A failure, or whatever stopped the run, cancels what is still in flight.
        self.slab.clear();
        engine.state = Arc::get_mut(&mut self.frame).and_then(|stage| stage.state.take());
        // In the order in which they ended: what was written down while the others ran is the beginning of the list.
        let kept = if L::STORED {
            ledger.keep(engine, &self.ended, &result).await
        } else {
            Ok(())
        };
        self.ended.sort_unstable_by_key(|job| job.order);
        result.and(kept).map_err(|broken| self.pending(broken))?;
        let overwritten = self.prepare(engine)?;
        if L::STORED {
            // Whatever can be refused is, before the state moves on: it would be stored with the tasks that led to it.
            self.advance(engine, planner, frontier)?;
            let updates = self.ended.iter().map(|job| &job.effects.update);
            ledger.absorb(updates, overwritten)?;
            self.commit(engine, overwritten);
            ledger
                .record(engine, &self.ended, planner, frontier)
                .await?;
        } else {
            self.commit(engine, overwritten);
            self.advance(engine, planner, frontier)?;
        }
        engine.tell(|| crate::EventKind::SuperstepFinished);
        engine.tell_values();
        self.idle.append(&mut self.ended);
        Ok(())
    }

    /// Runs all tasks of the frontier, as many at a time as the settings allow.
    async fn run<L: Ledger<F>>(
        &mut self,
        engine: &mut Engine<F>,
        frontier: &mut Vec<Task>,
        fates: Vec<Fate<F::State>>,
        ledger: &mut L,
    ) -> Result<(), Broken<F::State>> {
        let mut fates = fates.into_iter();
        let mut waiting = frontier.drain(..).enumerate();
        loop {
            let mut ended = None;
            while ended.is_none() && self.slab.running() < engine.max_concurrency() {
                let Some((order, task)) = waiting.next() else {
                    break;
                };
                // Known while compiling, where nothing is stored.
                let fate = if L::STORED { fates.next() } else { None };
                if matches!(fate, Some(Fate::Waits)) {
                    continue;
                }
                let mut job = self
                    .idle
                    .pop()
                    .unwrap_or_else(|| Box::new(Job::new(&engine.scope)));
                job.begin(order, task, engine.scope.superstep);
                if let Some(Fate::Finished(finished)) = fate {
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
                    let Crew {
                        frame, slab, ended, ..
                    } = &mut *self;
                    ledger.next(engine, frame, slab, ended).await?
                }
            };
            if matches!(job.end, JobEnd::Parked) {
                self.idle.push(job);
                continue;
            }
            job.end = match result {
                Ok(()) => JobEnd::Done,
                Err(failure) => survive(
                    engine.extras.as_deref(),
                    engine.plan(),
                    &job.scope,
                    failure,
                    &mut job.effects,
                )?,
            };
            self.ended.push(job);
        }
    }

    /// Whether all writes can be folded; and which keys they overwrite.
    fn prepare(&mut self, engine: &Engine<F>) -> Result<KeySet, Broken<F::State>> {
        let state = engine
            .state
            .as_ref()
            .expect("every task has let go of the state");
        prepare(state, self.ended.iter().map(|job| &job.effects.update))
            .map_err(|error| self.pending(Broken::refused(self.writers(&error), error)))
    }

    /// Folds all writes in the order of the tasks.
    fn commit(&mut self, engine: &mut Engine<F>, overwritten: KeySet) {
        apply(
            engine
                .state
                .as_mut()
                .expect("every task has let go of the state"),
            &mut engine.lane.written,
            overwritten,
            self.ended.iter_mut().map(|job| &mut job.effects.update),
        );
    }

    /// Plans the next frontier.
    fn advance(
        &self,
        engine: &Engine<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Broken<F::State>> {
        let outcomes = self
            .ended
            .iter()
            .map(|job| (job.scope.node, job.end.outcome(&job.effects)));
        let planned = planner.advance(engine.plan(), outcomes, frontier);
        planned.map_err(|missing| Broken::new(engine.no_edge(&missing)))
    }

    /// What has finished is kept beside the state.
    fn pending(&mut self, broken: Broken<F::State>) -> Broken<F::State> {
        let finished = self.ended.iter_mut().map(|job| {
            (
                job.scope.node().to_string(),
                std::mem::take(&mut job.effects.update),
            )
        });
        broken.beside(finished.collect())
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
pub(super) async fn run_job<F: Flow, L: Ledger<F>>(
    frame: Frame<F>,
    mut job: Box<Job<F::State>>,
) -> Ended<F::State> {
    let Stage {
        flow,
        extras,
        state,
    } = &*frame;
    let snapshot = state
        .as_ref()
        .expect("the state is in the frame during a fork");
    let Job {
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

impl<S: State> Job<S> {
    /// The task, as a journal takes it.
    pub(super) fn finished(&self) -> (TaskId, u32, &Effects<S>, &JobEnd) {
        (
            self.scope.task_id(),
            self.scope.node,
            &self.effects,
            &self.end,
        )
    }

    /// Its node.
    pub(super) fn node(&self) -> u32 {
        self.scope.node
    }

    /// A task that has ended outside a fork.
    pub(super) fn of(scope: Scope, effects: Effects<S>, end: JobEnd) -> Self {
        Job {
            order: 0,
            scope,
            effects,
            end,
        }
    }

    pub(super) fn into_parts(self) -> (Effects<S>, JobEnd) {
        (self.effects, self.end)
    }

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
        self.scope.send = task.send.into();
        self.scope.item = task.item.into();
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
            JobEnd::Ignored | JobEnd::Parked => Outcome::Ignored,
        }
    }
}
