//! What a stored run does at each point of a superstep.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::checkpoint_writer::Barrier;
use super::gates::{TaskDisposition, ThreadPersistence};
use crate::error::Failure;
use crate::exec::{
    Abort, Driver, EndedTask, Persistence, Slab, SnapshotRef, Stop, TaskEnd, TaskRun, Watch,
    poll_watch, watched,
};
use crate::flow::Flow;
use crate::node::RunShared;
use crate::outcome::RunErrorKind;
use crate::state::{KeySet, State};
use crate::superstep::{Planner, Task};
use crate::task_services::{DriverRequest, TaskServices};

/// What the driver hears from its tasks.
enum TaskEvent<T> {
    EndedTask(T),
    Called(DriverRequest),
}

impl<F: Flow> Persistence<F> for &mut ThreadPersistence<F::State> {
    const STORED: bool = true;

    fn simply_runs(&self, driver: &Driver<F>) -> bool {
        self.finished.is_empty() && driver.plan().gates.is_empty()
    }

    fn dispositions(
        &mut self,
        driver: &Driver<F>,
        frontier: &[Task],
    ) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>> {
        ThreadPersistence::dispositions(self, driver, frontier)
    }

    /// A task that has asked a person is dropped, and runs again when there is an answer.
    async fn attend(
        shared: &RunShared,
        (superstep, node, send): (u64, u32, Option<u32>),
        end: &mut TaskEnd,
        mut attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> Result<(), Failure> {
        let Some(services) = &shared.services else {
            return attempts.await;
        };
        // Only a task that waits needs its id here: most have ended when they were polled once.
        let id = || shared.task_id(superstep, node, send);
        let mut waits = None;
        let result = std::future::poll_fn(|cx| match attempts.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending => {
                let task = *waits.get_or_insert_with(id);
                services.poll_parked(task, cx).map(|()| None)
            }
        })
        .await;
        let Some(result) = result else {
            *end = TaskEnd::Parked;
            return Ok(());
        };
        if waits.is_some() || services.has_asked() {
            // It has gone on without the answer, as in a `select!`.
            services.withdraw(waits.unwrap_or_else(id));
        }
        result
    }

    async fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        shared: &RunShared,
        (state, written): (&F::State, &KeySet),
        mut task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Result<T, Abort<F::State>> {
        loop {
            let heard = hear(watch, shared.services.as_deref(), task.as_mut()).await;
            match heard.map_err(|stop| Abort::new(stop.into()))? {
                TaskEvent::EndedTask(ended) => return Ok(ended),
                TaskEvent::Called(call) => {
                    self.answer(call, watch, shared, state, *written).await?
                }
            }
        }
    }

    async fn next<T: Future<Output = EndedTask<F::State>> + Send>(
        &mut self,
        driver: &mut Driver<F>,
        frame: &SnapshotRef<F>,
        slab: &mut Slab<T>,
        ended: &[Box<TaskRun<F::State>>],
    ) -> Result<EndedTask<F::State>, Abort<F::State>> {
        let Driver {
            scope, lane, watch, ..
        } = driver;
        let state = frame
            .state
            .as_ref()
            .expect("the state is in the frame during a fork");
        loop {
            self.writer
                .write_finished(&scope.shared.plan, ended.iter().map(|job| job.finished()))
                .map_err(Abort::of_thread)?;
            let ended = std::pin::pin!(slab.next());
            let heard = hear(watch, scope.shared.services.as_deref(), ended).await;
            match heard.map_err(|stop| Abort::new(stop.into()))? {
                TaskEvent::EndedTask(ended) => return Ok(ended),
                TaskEvent::Called(call) => {
                    self.answer(call, watch, &scope.shared, state, lane.written)
                        .await?;
                }
            }
        }
    }

    fn is_quiet(&self, driver: &Driver<F>) -> bool {
        let asked = |services: &Arc<TaskServices>| services.has_asked();
        self.writer.in_flight.is_none() && !driver.scope.shared.services.as_ref().is_some_and(asked)
    }

    async fn keep(
        &mut self,
        driver: &mut Driver<F>,
        ended: &[Box<TaskRun<F::State>>],
        result: &Result<(), Abort<F::State>>,
    ) -> Result<(), Abort<F::State>> {
        let mut asked = std::mem::take(&mut self.asked);
        if let Some(services) = &driver.scope.shared.services {
            asked.extend(services.open());
        }
        let failed = match result {
            Ok(()) if asked.is_empty() => {
                // What is being written must not await_in_flight after the checkpoint that makes it superfluous.
                return self
                    .writer
                    .await_in_flight()
                    .await
                    .map_err(Abort::of_thread);
            }
            Ok(()) => None,
            Err(abort) => abort.failure(),
        };
        // First the barrier: what tasks have left beside one that a crash would lose would be found by others.
        let mut kept = self.close(driver.state.as_ref(), driver.lane.written).await;
        if kept.is_ok() {
            let ended = ended.iter().map(|job| job.finished());
            kept = self.writer.keep(driver.plan(), ended, failed, &asked).await;
        }
        // A failure is the cause; that it could not be written down comes second.
        if result.is_err() {
            return Ok(());
        }
        kept.map_err(Abort::of_thread)?;
        let interrupts = asked.into_iter().map(|(_, interrupt)| interrupt).collect();
        Err(Abort::new(RunErrorKind::Interrupted { interrupts }))
    }

    fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a <F::State as State>::Update>,
        overwritten: KeySet,
    ) -> Result<(), Abort<F::State>>
    where
        F: 'a,
    {
        self.writer
            .absorb(updates, overwritten)
            .map_err(Abort::of_thread)
    }

    async fn record(
        &mut self,
        driver: &mut Driver<F>,
        ended: &[Box<TaskRun<F::State>>],
        planner: &Planner,
        frontier: &[Task],
    ) -> Result<(), Abort<F::State>> {
        let header = &mut self.writer.header;
        header.gates.clear();
        if !driver.scope.shared.plan.gates.is_empty() {
            header.gates = ThreadPersistence::gates(driver, ended.iter().map(|job| job.node()))?;
        }
        let stops = !header.gates.is_empty();
        let Driver {
            state,
            lane,
            watch,
            scope,
            ..
        } = &mut *driver;
        let Some(state) = &*state else {
            unreachable!("the state is at home between forks")
        };
        let barrier = Barrier {
            plan: &scope.shared.plan,
            planner,
            frontier,
            superstep: scope.superstep,
        };
        let writer = &mut self.writer;
        let due = writer.advance(&barrier).map_err(Abort::of_thread)?;
        if due || frontier.is_empty() || stops {
            // In steps rather than as one future, which would be made and moved at every barrier.
            writer
                .compose(state, lane.written)
                .map_err(Abort::of_thread)?;
            if writer.must_wait() {
                watched(watch, writer.wait())
                    .await
                    .map_err(|stop| Abort::new(stop.into()))?
                    .map_err(Abort::of_thread)?;
            }
            let mut appended = writer.append();
            watched(watch, &mut appended)
                .await
                .map_err(|stop| Abort::new(stop.into()))?
                .map_err(|error| Abort::of_thread(error.into()))?;
            drop(appended);
            writer.appended();
        }
        self.tell(driver);
        if stops {
            let interrupts = self.asked_after();
            return Err(Abort::new(RunErrorKind::Interrupted { interrupts }));
        }
        Ok(())
    }
}

impl<S: State> ThreadPersistence<S> {
    /// Does what a task wants of the run.
    async fn answer(
        &mut self,
        call: DriverRequest,
        watch: &mut Option<Box<Watch>>,
        shared: &RunShared,
        state: &S,
        written: KeySet,
    ) -> Result<(), Abort<S>> {
        match call {
            DriverRequest::Break(why) => Err(Abort::of_task(why.0, why.1)),
            DriverRequest::Settle => {
                watched(watch, self.writer.settle(state, written))
                    .await
                    .map_err(|stop| Abort::new(stop.into()))?
                    .map_err(Abort::of_thread)?;
                if let Some(services) = &shared.services {
                    services.settled();
                }
                Ok(())
            }
        }
    }
}

/// Waits until what runs has ended, wants something of the run, or is stopped: asked in this order, in one future.
async fn hear<T>(
    watch: &mut Option<Box<Watch>>,
    services: Option<&TaskServices>,
    mut ended: Pin<&mut impl Future<Output = T>>,
) -> Result<TaskEvent<T>, Stop> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(ended) = ended.as_mut().poll(cx) {
            return Poll::Ready(Ok(TaskEvent::EndedTask(ended)));
        }
        if let Some(Poll::Ready(call)) = services.map(|services| services.poll_called(cx)) {
            return Poll::Ready(Ok(TaskEvent::Called(call)));
        }
        poll_watch(watch, cx).map(Err)
    })
    .await
}
