//! What a run writes down of its supersteps: nothing, or what a stored run does.

use std::future::Future;
use std::pin::Pin;

use super::abort::Abort;
use super::driver::Driver;
use super::parallel::{EndedTask, SnapshotRef, TaskEnd, TaskRun};
use super::slab::Slab;
use super::watch::{Watch, watched};
use crate::durable::TaskDisposition;
use crate::error::Failure;
use crate::flow::Flow;
use crate::node::RunShared;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};

/// What a run writes down of its supersteps, at each point where a stored one does.
///
/// A type of its own for each kind of run: one that is not stored has none of this in its code or its tasks.
pub(crate) trait Persistence<F: Flow>: Send {
    /// Whether anything is written down. Then every superstep takes the general path, which knows all its barriers.
    const STORED: bool;

    /// Whether the tasks of the frontier simply run: nothing is known of them yet, and nobody is asked before or after.
    fn simply_runs(&self, driver: &Driver<F>) -> bool;

    /// What becomes of the tasks of the frontier, by their place; those behind the end of the list run.
    fn dispositions(
        &mut self,
        driver: &Driver<F>,
        frontier: &[Task],
    ) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>>;

    /// Awaits a task until it ends or waits for a person. `task` is its superstep, its node and its place among what was sent.
    fn attend(
        shared: &RunShared,
        task: (u64, u32, Option<u32>),
        end: &mut TaskEnd,
        attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Awaits the only task of a superstep, or what stops the run before.
    fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        shared: &RunShared,
        barrier: (&F::State, &KeySet),
        task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> impl Future<Output = Result<T, Abort<F::State>>> + Send;

    /// The next task that ends, or what stops the run before.
    fn next<T: Future<Output = EndedTask<F::State>> + Send>(
        &mut self,
        driver: &mut Driver<F>,
        frame: &SnapshotRef<F>,
        slab: &mut Slab<T>,
        ended: &[Box<TaskRun<F::State>>],
    ) -> impl Future<Output = Result<EndedTask<F::State>, Abort<F::State>>> + Send;

    /// Whether there is nothing for [`keep`](Self::keep) to do after the only task of a superstep has ended well.
    fn is_quiet(&self, driver: &Driver<F>) -> bool;

    /// No task runs any more: writes down what cannot be committed, because a task failed, because the run was stopped, or
    /// because people are asked. The last is an error.
    fn keep(
        &mut self,
        driver: &mut Driver<F>,
        ended: &[Box<TaskRun<F::State>>],
        result: &Result<(), Abort<F::State>>,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send;

    /// Takes in the writes of a superstep, before they are applied.
    fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a <F::State as crate::state::State>::Update>,
        overwritten: KeySet,
    ) -> Result<(), Abort<F::State>>
    where
        F: 'a;

    /// Writes down the barrier that was just reached.
    fn record(
        &mut self,
        driver: &mut Driver<F>,
        ended: &[Box<TaskRun<F::State>>],
        planner: &Planner,
        frontier: &[Task],
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send;
}

/// Of a run that is not stored.
pub(crate) struct NoPersistence;

impl<F: Flow> Persistence<F> for NoPersistence {
    const STORED: bool = false;

    fn simply_runs(&self, _: &Driver<F>) -> bool {
        true
    }

    fn dispositions(
        &mut self,
        _: &Driver<F>,
        _: &[Task],
    ) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>> {
        Ok(Vec::new())
    }

    fn attend(
        _: &RunShared,
        _: (u64, u32, Option<u32>),
        _: &mut TaskEnd,
        attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        attempts
    }

    async fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        _: &RunShared,
        _: (&F::State, &KeySet),
        task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Result<T, Abort<F::State>> {
        let ended = watched(watch, task).await;
        ended.map_err(|stop| Abort::new(stop.into()))
    }

    fn is_quiet(&self, _: &Driver<F>) -> bool {
        true
    }

    async fn next<T: Future<Output = EndedTask<F::State>> + Send>(
        &mut self,
        driver: &mut Driver<F>,
        _: &SnapshotRef<F>,
        slab: &mut Slab<T>,
        _: &[Box<TaskRun<F::State>>],
    ) -> Result<EndedTask<F::State>, Abort<F::State>> {
        let next = watched(&mut driver.watch, slab.next()).await;
        next.map_err(|stop| Abort::new(stop.into()))
    }

    async fn keep(
        &mut self,
        _: &mut Driver<F>,
        _: &[Box<TaskRun<F::State>>],
        _: &Result<(), Abort<F::State>>,
    ) -> Result<(), Abort<F::State>> {
        Ok(())
    }

    fn absorb<'a>(
        &mut self,
        _: impl Iterator<Item = &'a <F::State as crate::state::State>::Update>,
        _: KeySet,
    ) -> Result<(), Abort<F::State>>
    where
        F: 'a,
    {
        Ok(())
    }

    async fn record(
        &mut self,
        _: &mut Driver<F>,
        _: &[Box<TaskRun<F::State>>],
        _: &Planner,
        _: &[Task],
    ) -> Result<(), Abort<F::State>> {
        Ok(())
    }
}
