//! What a stored run does at each point of a superstep.
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::book::{Book, Fate};
use super::desk::{Call, Desk};
use super::journal::Barrier;
use crate::node::Scope;
use crate::run::Shared;
use crate::run::broken::Broken;
use crate::run::drive::Engine;
use crate::run::fork::{Ended, Frame, Job, JobEnd};
use crate::run::guard::{Failure, watched};
use crate::run::ledger::Ledger;
use crate::run::slab::Slab;
use crate::superstep::{Planner, Task};
use crate::{Flow, KeySet, RunErrorKind, State};

/// Where a task's questions are, and which task it is.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    desk: Arc<Desk>,
    place: (u64, u32, Option<u32>),
}

/// What the driver hears from its tasks.
enum Next<S: State> {
    Ended(Ended<S>),
    Called(Call),
}

impl<F: Flow> Ledger<F> for &mut Book<F::State> {
    const STORED: bool = true;
    type Seat = Option<Seat>;

    fn fates(
        &mut self,
        engine: &Engine<F>,
        frontier: &[Task],
    ) -> Result<Vec<Fate<F::State>>, Broken<F::State>> {
        Book::fates(self, engine, frontier)
    }

    fn seat(scope: &Scope) -> Option<Seat> {
        let desk = scope.shared.desk.as_ref()?;
        Some(Seat {
            shared: Arc::clone(&scope.shared),
            desk: Arc::clone(desk),
            place: (scope.superstep, scope.node, scope.send.get()),
        })
    }

    /// A task that has asked a person is dropped, and runs again when there is an answer.
    async fn attend(
        seat: &Option<Seat>,
        end: &mut JobEnd,
        mut attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> Result<(), Failure> {
        let Some(Seat {
            shared,
            desk,
            place: (superstep, node, send),
        }) = seat
        else {
            return attempts.await;
        };
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

    async fn next<T: Future<Output = Ended<F::State>> + Send>(
        &mut self,
        engine: &mut Engine<F>,
        frame: &Frame<F>,
        slab: &mut Slab<T>,
        ended: &[Box<Job<F::State>>],
    ) -> Result<Ended<F::State>, Broken<F::State>> {
        let desk = engine.scope.shared.desk.clone();
        loop {
            self.journal
                .jot(engine.wiring(), ended.iter().map(|job| job.finished()))
                .map_err(Broken::of_thread)?;
            let next = watched(&mut engine.watch, next(desk.as_deref(), slab));
            match next.await.map_err(|stop| Broken::new(stop.into()))? {
                Next::Ended(ended) => return Ok(ended),
                Next::Called(Call::Break(problem, source)) => {
                    return Err(Broken::of_task(problem, source));
                }
                Next::Called(Call::Settle) => {
                    let state = frame
                        .state
                        .as_ref()
                        .expect("the state is in the frame during a fork");
                    let settle = self.journal.settle(state, engine.lane.written);
                    watched(&mut engine.watch, settle)
                        .await
                        .map_err(|stop| Broken::new(stop.into()))?
                        .map_err(Broken::of_thread)?;
                    if let Some(desk) = &desk {
                        desk.settled();
                    }
                }
            }
        }
    }

    async fn keep(
        &mut self,
        engine: &mut Engine<F>,
        ended: &[Box<Job<F::State>>],
        result: &Result<(), Broken<F::State>>,
    ) -> Result<(), Broken<F::State>> {
        let mut asked = std::mem::take(&mut self.asked);
        if let Some(desk) = &engine.scope.shared.desk {
            asked.extend(desk.open());
        }
        let failed = match result {
            Ok(()) if asked.is_empty() => {
                // What is being written must not land after the checkpoint that makes it superfluous.
                return self.journal.land().await.map_err(Broken::of_thread);
            }
            Ok(()) => None,
            Err(broken) => broken.failure(),
        };
        // First the barrier: what tasks have left beside one that a crash would lose would be found by others.
        let mut kept = self.close(engine.state.as_ref(), engine.lane.written).await;
        if kept.is_ok() {
            let ended = ended.iter().map(|job| job.finished());
            kept = self
                .journal
                .keep(engine.wiring(), ended, failed, &asked)
                .await;
        }
        // A failure is the cause; that it could not be written down comes second.
        if result.is_err() {
            return Ok(());
        }
        kept.map_err(Broken::of_thread)?;
        let interrupts = asked.into_iter().map(|(_, interrupt)| interrupt).collect();
        Err(Broken::new(RunErrorKind::Interrupted { interrupts }))
    }

    fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a <F::State as State>::Update>,
        overwritten: KeySet,
    ) -> Result<(), Broken<F::State>>
    where
        F: 'a,
    {
        self.journal
            .absorb(updates, overwritten)
            .map_err(Broken::of_thread)
    }

    async fn record(
        &mut self,
        engine: &mut Engine<F>,
        ended: &[Box<Job<F::State>>],
        planner: &Planner,
        frontier: &[Task],
    ) -> Result<(), Broken<F::State>> {
        let gates = if engine.wiring().gates.is_empty() {
            Vec::new()
        } else {
            Book::gates(engine, ended.iter().map(|job| job.node()))?
        };
        let stops = !gates.is_empty();
        let Engine {
            state,
            lane,
            watch,
            scope,
            ..
        } = &mut *engine;
        let Some(state) = &*state else {
            unreachable!("the state is at home between forks")
        };
        let barrier = Barrier {
            wiring: &scope.shared.wiring,
            planner,
            frontier,
            superstep: scope.superstep,
            gates,
        };
        let now = frontier.is_empty() || stops;
        let commit = self.journal.commit(state, lane.written, barrier, now);
        watched(watch, commit)
            .await
            .map_err(|stop| Broken::new(stop.into()))?
            .map_err(Broken::of_thread)?;
        self.tell(engine);
        if stops {
            let interrupts = self.asked_after();
            return Err(Broken::new(RunErrorKind::Interrupted { interrupts }));
        }
        Ok(())
    }
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
