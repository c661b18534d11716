//! What a run writes down of its supersteps: nothing, or what a stored run does.

use std::future::Future;
use std::pin::Pin;

use super::broken::Broken;
use super::drive::Engine;
use super::fork::{Ended, Frame, Job, JobEnd};
use super::guard::{Watch, watched};
use super::slab::Slab;
use super::stored::Fate;
use crate::error::Failure;
use crate::flow::Flow;
use crate::node::Shared;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};

/// What a run writes down of its supersteps, at each point where a stored one does.
///
/// A type of its own for each kind of run: one that is not stored has none of this in its code or its tasks.
pub(super) trait Ledger<F: Flow>: Send {
    /// Whether anything is written down. Then every superstep takes the general path, which knows all its barriers.
    const STORED: bool;

    /// Whether the tasks of the frontier simply run: nothing is known of them yet, and nobody is asked before or after.
    fn simply_runs(&self, engine: &Engine<F>) -> bool;

    /// What becomes of the tasks of the frontier, by their place; those behind the end of the list run.
    fn fates(
        &mut self,
        engine: &Engine<F>,
        frontier: &[Task],
    ) -> Result<Vec<Fate<F::State>>, Broken<F::State>>;

    /// Awaits a task until it ends or waits for a person. `task` is its superstep, its node and its place among what was sent.
    fn attend(
        shared: &Shared,
        task: (u64, u32, Option<u32>),
        end: &mut JobEnd,
        attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Awaits the only task of a superstep, or what stops the run before.
    fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        shared: &Shared,
        barrier: (&F::State, &KeySet),
        task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> impl Future<Output = Result<T, Broken<F::State>>> + Send;

    /// The next task that ends, or what stops the run before.
    fn next<T: Future<Output = Ended<F::State>> + Send>(
        &mut self,
        engine: &mut Engine<F>,
        frame: &Frame<F>,
        slab: &mut Slab<T>,
        ended: &[Box<Job<F::State>>],
    ) -> impl Future<Output = Result<Ended<F::State>, Broken<F::State>>> + Send;

    /// Whether there is nothing for [`keep`](Self::keep) to do after the only task of a superstep has ended well.
    fn is_quiet(&self, engine: &Engine<F>) -> bool;

    /// No task runs any more: writes down what cannot be committed, because a task failed, because the run was stopped, or
    /// because people are asked. The last is an error.
    fn keep(
        &mut self,
        engine: &mut Engine<F>,
        ended: &[Box<Job<F::State>>],
        result: &Result<(), Broken<F::State>>,
    ) -> impl Future<Output = Result<(), Broken<F::State>>> + Send;

    /// Takes in the writes of a superstep, before they are applied.
    fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a <F::State as crate::state::State>::Update>,
        overwritten: KeySet,
    ) -> Result<(), Broken<F::State>>
    where
        F: 'a;

    /// Writes down the barrier that was just reached.
    fn record(
        &mut self,
        engine: &mut Engine<F>,
        ended: &[Box<Job<F::State>>],
        planner: &Planner,
        frontier: &[Task],
    ) -> impl Future<Output = Result<(), Broken<F::State>>> + Send;
}

/// Of a run that is not stored.
pub(super) struct Nothing;

impl<F: Flow> Ledger<F> for Nothing {
    const STORED: bool = false;

    fn simply_runs(&self, _: &Engine<F>) -> bool {
        true
    }

    fn fates(
        &mut self,
        _: &Engine<F>,
        _: &[Task],
    ) -> Result<Vec<Fate<F::State>>, Broken<F::State>> {
        Ok(Vec::new())
    }

    fn attend(
        _: &Shared,
        _: (u64, u32, Option<u32>),
        _: &mut JobEnd,
        attempts: Pin<&mut (impl Future<Output = Result<(), Failure>> + Send)>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        attempts
    }

    async fn only<T: Send>(
        &mut self,
        watch: &mut Option<Box<Watch>>,
        _: &Shared,
        _: (&F::State, &KeySet),
        task: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Result<T, Broken<F::State>> {
        let ended = watched(watch, task).await;
        ended.map_err(|stop| Broken::new(stop.into()))
    }

    fn is_quiet(&self, _: &Engine<F>) -> bool {
        true
    }

    async fn next<T: Future<Output = Ended<F::State>> + Send>(
        &mut self,
        engine: &mut Engine<F>,
        _: &Frame<F>,
        slab: &mut Slab<T>,
        _: &[Box<Job<F::State>>],
    ) -> Result<Ended<F::State>, Broken<F::State>> {
        let next = watched(&mut engine.watch, slab.next()).await;
        next.map_err(|stop| Broken::new(stop.into()))
    }

    async fn keep(
        &mut self,
        _: &mut Engine<F>,
        _: &[Box<Job<F::State>>],
        _: &Result<(), Broken<F::State>>,
    ) -> Result<(), Broken<F::State>> {
        Ok(())
    }

    fn absorb<'a>(
        &mut self,
        _: impl Iterator<Item = &'a <F::State as crate::state::State>::Update>,
        _: KeySet,
    ) -> Result<(), Broken<F::State>>
    where
        F: 'a,
    {
        Ok(())
    }

    async fn record(
        &mut self,
        _: &mut Engine<F>,
        _: &[Box<Job<F::State>>],
        _: &Planner,
        _: &[Task],
    ) -> Result<(), Broken<F::State>> {
        Ok(())
    }
}
