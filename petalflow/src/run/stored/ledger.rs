//! What a stored run does at each point of a superstep.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::book::{Book, Fate};
use super::journal::Barrier;
use crate::error::Failure;
use crate::flow::Flow;
use crate::node::Shared;
use crate::outcome::RunErrorKind;
use crate::run::broken::Broken;
use crate::run::drive::Engine;
use crate::run::fork::{Ended, Frame, Job, JobEnd};
use crate::run::guard::{Stop, Watch, poll_watch, watched};
use crate::run::ledger::Ledger;
use crate::run::slab::Slab;
use crate::state::{KeySet, State};
use crate::superstep::{Planner, Task};
use crate::task_services::{Call, Desk};

/// What the driver hears from its tasks.
enum Heard<T> {
    Ended(T),
    Called(Call),
}

impl<F: Flow> Ledger<F> for &mut Book<F::State> {
    const STORED: bool = true;

    fn simply_runs(&self, engine: &Engine<F>) -> bool {
        self.finished.is_empty() && engine.plan().gates.is_empty()
    }

    fn fates(
        &mut self,
        engine: &Engine<F>,
        frontier: &[Task],
    ) -> Result<Vec<Fate<F::State>>, Broken<F::State>> {
        Book::fates(self, engine, frontier)
    }

    /// A task that has asked a person is dropped, and runs again when there is an answer.
    async fn attend(
        shared: &Shared,
        (superstep, node, send): (u64, u32, Option<u32>),
        end: &mut JobEnd,
        mut attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> Result<(), Failure> {
        let Some(desk) = &shared.desk else {
            return attempts.await;
        };
        // Only a task that waits needs its id here: most have ended when they were polled once.
        let id = || shared.task_id(superstep, node, send);
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

    async fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        shared: &Shared,
        (state, written): (&F::State, &KeySet),
        mut task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Result<T, Broken<F::State>> {
        loop {
            let heard = hear(watch, shared.desk.as_deref(), task.as_mut()).await;
            match heard.map_err(|stop| Broken::new(stop.into()))? {
                Heard::Ended(ended) => return Ok(ended),
                Heard::Called(call) => self.answer(call, watch, shared, state, *written).await?,
            }
        }
    }

    async fn next<T: Future<Output = Ended<F::State>> + Send>(
        &mut self,
        engine: &mut Engine<F>,
        frame: &Frame<F>,
        slab: &mut Slab<T>,
        ended: &[Box<Job<F::State>>],
    ) -> Result<Ended<F::State>, Broken<F::State>> {
        let Engine {
            scope, lane, watch, ..
        } = engine;
        let state = frame
            .state
            .as_ref()
            .expect("the state is in the frame during a fork");
        loop {
            self.journal
                .jot(&scope.shared.plan, ended.iter().map(|job| job.finished()))
                .map_err(Broken::of_thread)?;
            let ended = std::pin::pin!(slab.next());
            let heard = hear(watch, scope.shared.desk.as_deref(), ended).await;
            match heard.map_err(|stop| Broken::new(stop.into()))? {
                Heard::Ended(ended) => return Ok(ended),
                Heard::Called(call) => {
                    self.answer(call, watch, &scope.shared, state, lane.written)
                        .await?;
                }
            }
        }
    }

    fn is_quiet(&self, engine: &Engine<F>) -> bool {
        let asked = |desk: &Arc<Desk>| desk.has_asked();
        self.journal.in_flight.is_none() && !engine.scope.shared.desk.as_ref().is_some_and(asked)
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
                .keep(engine.plan(), ended, failed, &asked)
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
        let header = &mut self.journal.header;
        header.gates.clear();
        if !engine.scope.shared.plan.gates.is_empty() {
            header.gates = Book::gates(engine, ended.iter().map(|job| job.node()))?;
        }
        let stops = !header.gates.is_empty();
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
            plan: &scope.shared.plan,
            planner,
            frontier,
            superstep: scope.superstep,
        };
        let journal = &mut self.journal;
        let due = journal.advance(&barrier).map_err(Broken::of_thread)?;
        if due || frontier.is_empty() || stops {
            // In steps rather than as one future, which would be made and moved at every barrier.
            journal
                .compose(state, lane.written)
                .map_err(Broken::of_thread)?;
            if journal.must_wait() {
                watched(watch, journal.wait())
                    .await
                    .map_err(|stop| Broken::new(stop.into()))?
                    .map_err(Broken::of_thread)?;
            }
            let mut appended = journal.append();
            watched(watch, &mut appended)
                .await
                .map_err(|stop| Broken::new(stop.into()))?
                .map_err(|error| Broken::of_thread(error.into()))?;
            drop(appended);
            journal.appended();
        }
        self.tell(engine);
        if stops {
            let interrupts = self.asked_after();
            return Err(Broken::new(RunErrorKind::Interrupted { interrupts }));
        }
        Ok(())
    }
}

impl<S: State> Book<S> {
    /// Does what a task wants of the run.
    async fn answer(
        &mut self,
        call: Call,
        watch: &mut Option<Box<Watch>>,
        shared: &Shared,
        state: &S,
        written: KeySet,
    ) -> Result<(), Broken<S>> {
        match call {
            Call::Break(why) => Err(Broken::of_task(why.0, why.1)),
            Call::Settle => {
                watched(watch, self.journal.settle(state, written))
                    .await
                    .map_err(|stop| Broken::new(stop.into()))?
                    .map_err(Broken::of_thread)?;
                if let Some(desk) = &shared.desk {
                    desk.settled();
                }
                Ok(())
            }
        }
    }
}

/// Waits until what runs has ended, wants something of the run, or is stopped: asked in this order, in one future.
async fn hear<T>(
    watch: &mut Option<Box<Watch>>,
    desk: Option<&Desk>,
    mut ended: Pin<&mut impl Future<Output = T>>,
) -> Result<Heard<T>, Stop> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(ended) = ended.as_mut().poll(cx) {
            return Poll::Ready(Ok(Heard::Ended(ended)));
        }
        if let Some(Poll::Ready(call)) = desk.map(|desk| desk.poll_called(cx)) {
            return Poll::Ready(Ok(Heard::Called(call)));
        }
        poll_watch(watch, cx).map(Err)
    })
    .await
}
