//! The general path: any number of tasks in one superstep, with all that may surround them.
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::Extras;
use super::Shared;
use super::attempt::attempts;
use super::drive::{Broken, Engine, survive};
use super::guard::{Failure, caught, watched};
use super::slab::Slab;
use super::stored::{Book, Call, Desk, Fate};
use crate::flow::Step;
use crate::interrupt::Interrupt;
use crate::middleware::BoxFuture;
use crate::node::{Delivery, Effects, Scope};
use crate::superstep::{Outcome, Planner, Task, apply, prepare};
use crate::{Flow, KeySet, RunErrorKind, State, TaskId, Update as _, WriteError};

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
        mut book: Option<&mut Book<F::State>>,
    ) -> Result<(), Broken<F::State>> {
        let (fates, asked) = match &mut book {
            Some(book) => book.fates(engine, frontier)?,
            None => (Vec::new(), Vec::new()),
        };
        *Arc::get_mut(&mut self.frame).expect("no task is in flight between supersteps") =
            engine.state.take();
        let result = self.run(engine, frontier, fates, book.as_deref_mut()).await;
        // A failure, or whatever stopped the run, cancels what is still in flight.
        self.slab.clear();
        engine.state = Arc::get_mut(&mut self.frame).and_then(Option::take);
        if let Some(book) = &mut book {
            let shared = Arc::clone(&engine.scope.shared);
            let barrier = (engine.state.as_ref(), engine.lane.written);
            self.keep(&shared, barrier, book, &result, asked).await?;
        }
        self.ended.sort_unstable_by_key(|job| job.order);
        result.map_err(|broken| self.pending(broken))?;
        let overwritten = self.prepare(engine)?;
        if let Some(book) = book {
            // Whatever can be refused is, before the state moves on: it would be stored with the tasks that led to it.
            self.plan(engine, planner, frontier)?;
            let updates = self.ended.iter().map(|job| &job.effects.update);
            book.journal
                .absorb(updates, overwritten)
                .map_err(Broken::of_thread)?;
            self.commit(engine, overwritten);
            self.record(engine, book, planner, frontier).await?;
        } else {
            self.commit(engine, overwritten);
            self.plan(engine, planner, frontier)?;
        }
        engine.tell(|| crate::EventKind::SuperstepFinished);
        engine.tell_values();
        self.idle.append(&mut self.ended);
        Ok(())
    }

    /// Runs all tasks of the frontier, as many at a time as the settings allow.
    async fn run(
        &mut self,
        engine: &mut Engine<F>,
        frontier: &mut Vec<Task>,
        fates: Vec<Fate<F::State>>,
        mut book: Option<&mut Book<F::State>>,
    ) -> Result<(), Broken<F::State>> {
        let desk = engine.scope.shared.desk.clone();
        let mut fates = fates.into_iter();
        let mut waiting = frontier.drain(..).enumerate();
        loop {
            let mut ended = None;
            while ended.is_none() && self.slab.running() < engine.max_concurrency() {
                let Some((order, task)) = waiting.next() else {
                    break;
                };
                let fate = fates.next().unwrap_or(Fate::Run);
                if matches!(fate, Fate::Waits) {
                    continue;
                }
                let mut job = self
                    .idle
                    .pop()
                    .unwrap_or_else(|| Box::new(Job::new(&engine.scope)));
                job.begin(order, task, engine.scope.superstep);
                if let Fate::Finished(finished) = fate {
                    job.effects = finished.effects;
                    job.end = finished.end;
                    self.ended.push(job);
                    continue;
                }
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
                None => {
                    if let Some(book) = &mut book {
                        book.journal
                            .jot(engine.wiring(), finished(&self.ended))
                            .map_err(Broken::of_thread)?;
                    }
                    let next = watched(&mut engine.watch, next(desk.as_deref(), &mut self.slab));
                    let next = next.await.map_err(|stop| Broken::new(stop.into()))?;
                    match (next, &mut book) {
                        (Next::Ended(ended), _) => ended,
                        (Next::Called(Call::Break(problem, source)), _) => {
                            return Err(Broken::of_task(problem, source));
                        }
                        (Next::Called(Call::Settle), Some(book)) => {
                            let state = Option::as_ref(&self.frame)
                                .expect("the state is in the frame during a fork");
                            let settle = book.journal.settle(state, engine.lane.written);
                            watched(&mut engine.watch, settle)
                                .await
                                .map_err(|stop| Broken::new(stop.into()))?
                                .map_err(Broken::of_thread)?;
                            if let Some(desk) = &desk {
                                desk.settled();
                            }
                            continue;
                        }
                        (Next::Called(Call::Settle), None) => continue,
                    }
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
                    engine.wiring(),
                    &job.scope,
                    failure,
                    &mut job.effects,
                )?,
            };
            self.ended.push(job);
        }
    }

    /// Writes down what a superstep leaves that cannot be committed: because a task failed, because the run was stopped, or
    /// because people are asked.
    async fn keep(
        &mut self,
        shared: &Shared,
        (state, written): (Option<&F::State>, KeySet),
        book: &mut Book<F::State>,
        result: &Result<(), Broken<F::State>>,
        mut asked: Vec<(TaskId, Interrupt)>,
    ) -> Result<(), Broken<F::State>> {
        if let Some(desk) = &shared.desk {
            asked.extend(desk.open());
        }
        let failed = match result {
            Ok(()) if asked.is_empty() => {
                // What is being written must not land after the checkpoint that makes it superfluous.
                return book.journal.land().await.map_err(Broken::of_thread);
            }
            Ok(()) => None,
            Err(broken) => broken.failure(),
        };
        // First the barrier: what tasks have left beside one that a crash would lose would be found by others.
        let mut kept = book.close(state, written).await;
        if kept.is_ok() {
            let ended = finished(&self.ended);
            let journal = &mut book.journal;
            kept = journal.keep(&shared.wiring, ended, failed, &asked).await;
        }
        // A failure is the cause; that it could not be written down comes second.
        if result.is_err() {
            return Ok(());
        }
        kept.map_err(Broken::of_thread)?;
        let interrupts = asked.into_iter().map(|(_, interrupt)| interrupt).collect();
        Err(self.pending(Broken::new(RunErrorKind::Interrupted { interrupts })))
    }

    /// Writes down the barrier that was just reached.
    async fn record(
        &mut self,
        engine: &mut Engine<F>,
        book: &mut Book<F::State>,
        planner: &Planner,
        frontier: &[Task],
    ) -> Result<(), Broken<F::State>> {
        let gates = if engine.wiring().gates.is_empty() {
            Vec::new()
        } else {
            Book::gates(engine, self.ended.iter().map(|job| job.scope.node))?
        };
        let stops = !gates.is_empty();
        let wiring = Arc::clone(&engine.scope.shared.wiring);
        let barrier =
            Book::<F::State>::barrier(&wiring, planner, frontier, engine.scope.superstep, gates);
        let Engine {
            state, lane, watch, ..
        } = &mut *engine;
        let Some(state) = &*state else {
            unreachable!("the state is at home between forks")
        };
        let commit =
            book.journal
                .commit(state, lane.written, barrier, frontier.is_empty() || stops);
        watched(watch, commit)
            .await
            .map_err(|stop| Broken::new(stop.into()))?
            .map_err(Broken::of_thread)?;
        engine.tell_checkpoint(book);
        if stops {
            let interrupts = book.asked_after();
            return Err(Broken::new(RunErrorKind::Interrupted { interrupts }));
        }
        Ok(())
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
    fn plan(
        &self,
        engine: &Engine<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Broken<F::State>> {
        let outcomes = self
            .ended
            .iter()
            .map(|job| (job.scope.node, job.end.outcome(&job.effects)));
        let planned = planner.advance(engine.wiring(), outcomes, frontier);
        planned.map_err(|missing| Broken::new(engine.no_edge(&missing)))
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

/// What the driver hears from its tasks.
enum Next<S: State> {
    Ended(Ended<S>),
    Called(Call),
}

/// Waits until a task has ended, or wants something of the run.
async fn next<S: State, T: Future<Output = Ended<S>>>(
    desk: Option<&Desk>,
    slab: &mut Slab<T>,
) -> Next<S> {
    let Some(desk) = desk else {
        return Next::Ended(slab.next().await);
    };
    let (mut ended, mut called) = (std::pin::pin!(slab.next()), std::pin::pin!(desk.called()));
    std::future::poll_fn(|cx| match ended.as_mut().poll(cx) {
        Poll::Ready(ended) => Poll::Ready(Next::Ended(ended)),
        Poll::Pending => called.as_mut().poll(cx).map(Next::Called),
    })
    .await
}

/// The tasks that have ended, as the journal takes them.
fn finished<S: State>(
    ended: &[Box<Job<S>>],
) -> impl ExactSizeIterator<Item = (TaskId, u32, &Effects<S>, &JobEnd)> {
    ended
        .iter()
        .map(|job| (job.scope.task_id(), job.scope.node, &job.effects, &job.end))
}

/// What a task of a stored run needs in order to wait for people: where its questions are, and which task it is.
type Stored = (Arc<Shared>, Arc<Desk>, (u64, u32, Option<u32>));

/// One task of a fork. It owns all that it needs, so that its slot can be kept from superstep to superstep.
pub(super) async fn run_job<F: Flow>(
    flow: Arc<F>,
    extras: Option<Arc<Extras<F::State>>>,
    frame: Frame<F::State>,
    mut job: Box<Job<F::State>>,
) -> Ended<F::State> {
    let snapshot = Option::as_ref(&frame).expect("the state is in the frame during a fork");
    let Job {
        scope,
        effects,
        end,
        ..
    } = &mut *job;
    // Only a stored run's tasks can wait for people.
    let stored = scope.shared.desk.as_ref().map(|desk| {
        let place = (scope.superstep, scope.node, scope.send.get());
        (Arc::clone(&scope.shared), Arc::clone(desk), place)
    });
    let busy = extras
        .as_ref()
        .is_some_and(|extras| !extras.middleware.is_empty() || extras.sink.is_some());
    let result = if busy || !scope.shared.wiring.policies[scope.node as usize].is_none() {
        let extras = extras.unwrap_or_default();
        let attempts: BoxFuture<'_, _> =
            Box::pin(async move { attempts(&*flow, &extras, scope, snapshot, effects).await });
        let attempts = std::pin::pin!(attempts);
        match &stored {
            None => attempts.await,
            Some(stored) => until_parked(stored, end, attempts).await,
        }
    } else {
        let node = scope.node;
        let mut step = Step::task(scope, snapshot, effects);
        // Pinned here, so that its memory is not there once for either way.
        let once = std::pin::pin!(caught(flow.step(node, &mut step)));
        match &stored {
            None => once.await,
            Some(stored) => until_parked(stored, end, once).await,
        }
    };
    // Before the job is handed back: the driver takes the state home when the last task has let go of it.
    drop(frame);
    (job, result)
}

/// Awaits a task until it ends or has asked a person: then it is dropped, and runs again when there is an answer.
async fn until_parked(
    (shared, desk, (superstep, node, send)): &Stored,
    end: &mut JobEnd,
    mut attempts: Pin<&mut impl Future<Output = Result<(), Failure>>>,
) -> Result<(), Failure> {
    // Only a task that waits needs its id here: most have ended when they were polled once.
    let id = || shared.task_id(*superstep, *node, *send);
    let mut waits = None;
    let result = std::future::poll_fn(|cx| match attempts.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => {
            let task = *waits.get_or_insert_with(id);
            desk.poll_parked(task, cx).map(|()| None)
        }
    })
    .await;
    let Some(result) = result else {
        *end = JobEnd::Parked;
        return Ok(());
    };
    if waits.is_some() || desk.has_asked() {
        // It has gone on without the answer, as in a `select!`.
        desk.withdraw(waits.unwrap_or_else(id));
    }
    result
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
