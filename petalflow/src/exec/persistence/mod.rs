//! The interface of the persistence of a run: the driver calls it with plain data at the points of a superstep.
//!
//! The driver polls the tasks and decides what happens next; an implementation only reads and writes. The points, in the
//! order of a superstep:
//!
//! 1. [`superstep_begun`](Persistence::superstep_begun): which tasks of the frontier have to run.
//! 2. [`tasks_finished`](Persistence::tasks_finished), [`flush`](Persistence::flush),
//!    [`questions_asked`](Persistence::questions_asked), [`questions_told`](Persistence::questions_told),
//!    [`answers_given`](Persistence::answers_given): while tasks run.
//! 3. [`tasks_ended`](Persistence::tasks_ended): no task runs any more.
//! 4. [`read_messages`](Persistence::read_messages), [`record_writes`](Persistence::record_writes),
//!    [`take_messages`](Persistence::take_messages): the superstep is about to be committed.
//! 5. [`barrier_reached`](Persistence::barrier_reached), [`write_checkpoint`](Persistence::write_checkpoint): it is committed.
//!
//! [`run_ended`](Persistence::run_ended) comes once, at the end.

pub(super) mod task_end;

use std::future::ready;

use petalflow_graph::NodeIdx;

use crate::checkpoint::{DecisionRecord, StoreError};
use crate::erased::{AnyEffects, AnyState, EffectsBox};
use crate::error::NodeError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::Interrupt;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};
use task_end::{FinishedTask, TaskResult};

/// The persistence of a run.
///
/// The default methods are those of a run that is not stored.
pub(crate) trait Persistence: Send {
    /// Whether anything is stored. If so, every superstep ends with [`barrier_reached`](Self::barrier_reached), and the fast
    /// path is not taken.
    fn is_stored(&self) -> bool {
        false
    }

    /// Whether every task of the next superstep runs, unless an `interrupt before` is in the way.
    fn runs_all(&self) -> bool {
        true
    }

    /// A superstep begins. Returns what to do with each task of the frontier; tasks beyond the end of the list run.
    fn superstep_begun(
        &mut self,
        _plan: &ExecutionPlan,
        _frontier: &[Task],
    ) -> Vec<TaskDisposition> {
        Vec::new()
    }

    /// The keys that nothing may read before they are written again, because their values were not stored.
    fn lost(&self) -> LostKeys {
        LostKeys::default()
    }

    /// What a person has decided at the `interrupt before` this node, if anything.
    fn interrupt_decision(
        &self,
        _plan: &ExecutionPlan,
        _node: NodeIdx,
    ) -> Option<InterruptDecision> {
        None
    }

    /// The run waits for a person before this node.
    fn wait_at_interrupt(&mut self, _plan: &ExecutionPlan, _node: NodeIdx) {}

    /// The tasks of the superstep that have finished so far, in the order in which they finished. Others still run.
    fn tasks_finished(
        &mut self,
        _plan: &ExecutionPlan,
        _finished: &mut dyn ExactSizeIterator<Item = TaskResult<'_>>,
    ) -> Result<(), ThreadError> {
        Ok(())
    }

    /// The run has waited, so time has passed.
    fn waited(&mut self) {}

    /// Writes the last barrier to the store, because a task needs it there.
    fn flush<'a>(
        &'a mut self,
        _committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(ready(Ok(())))
    }

    /// Stores what tasks of the superstep have asked while others run, so that it can be answered. Returns what was not told before.
    fn questions_asked<'a>(
        &'a mut self,
        _committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<Vec<Interrupt>, ThreadError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Listeners of the outermost flow were told what tasks have asked: stores that with the events.
    fn questions_told(&mut self) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(ready(Ok(())))
    }

    /// Records the answers and decisions that the run was given while tasks run. Returns a decision that ends the run:
    /// [`tasks_ended`](Self::tasks_ended) records it.
    fn answers_given<'a>(
        &'a mut self,
        _committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<Option<DecisionRecord>, ThreadError>> {
        Box::pin(ready(Ok(None)))
    }

    /// Whether [`tasks_ended`](Self::tasks_ended) has nothing to do after a superstep in which no task failed or waits.
    fn is_idle(&self) -> bool {
        true
    }

    /// No task runs any more. If the superstep is not committed, because it was stopped or because the run waits for a person,
    /// the results of its tasks are stored. If a person has ended the run, that is stored instead. Returns what the run waits for.
    fn tasks_ended<'a>(
        &'a mut self,
        _plan: &'a ExecutionPlan,
        _committed: Committed<'a>,
        _finished: Vec<TaskResult<'a>>,
        _stopped: Option<Stopped>,
    ) -> BoxFuture<'a, Result<Waits, ThreadError>> {
        Box::pin(ready(Ok(Waits::default())))
    }

    /// Whether the thread takes messages.
    fn takes_messages(&self) -> bool {
        false
    }

    /// The messages that were sent since those that were taken.
    fn read_messages(&mut self) -> BoxFuture<'_, Result<Vec<Unread>, ThreadError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// The messages up to a number are in the writes that were recorded, or were refused.
    fn take_messages(&mut self, _number: u64) {}

    /// The writes of the superstep, before they are applied.
    fn record_writes(
        &mut self,
        _effects: &[&dyn AnyEffects],
        _overwritten: KeySet,
    ) -> Result<(), ThreadError> {
        Ok(())
    }

    /// A superstep was committed, and the next one is planned. Returns whether a checkpoint has to be written now.
    fn barrier_reached(&mut self, _barrier: Barrier<'_>) -> Result<bool, ThreadError> {
        Ok(false)
    }

    /// Writes that checkpoint. A boxed future, which is what a store returns: a future around it would be made and moved at
    /// every barrier.
    fn write_checkpoint(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    /// The checkpoint was written.
    fn checkpoint_written(&mut self) {}

    /// What the run waits for after the nodes of the barrier.
    fn interrupts_after(&self) -> Vec<Interrupt> {
        Vec::new()
    }

    /// The run has ended: it finished, failed, paused or was stopped.
    fn run_ended<'a>(
        &'a mut self,
        _committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(ready(Ok(())))
    }

    /// The number of the checkpoint that was written since the last call, if any.
    fn take_checkpoint(&mut self) -> Option<u64> {
        None
    }
}

/// What the tasks of a superstep wait for.
#[derive(Default)]
pub(crate) struct Waits {
    pub(crate) interrupts: Vec<Interrupt>,
    /// When the first of the tasks that sleep wakes, in milliseconds since 1970 (UTC).
    pub(crate) wakes_ms: Option<u64>,
}

impl Waits {
    pub(crate) fn is_nothing(&self) -> bool {
        self.interrupts.is_empty() && self.wakes_ms.is_none()
    }
}

/// The `untracked` keys whose values were lost when the thread stopped.
#[derive(Clone, Copy, Default)]
pub(crate) struct LostKeys {
    /// Those that have no value. What is known to read one of them was promised that it was written.
    pub(crate) possible: KeySet,
    /// Those that had a value. What may read any key was promised nothing.
    pub(crate) certain: KeySet,
}

impl LostKeys {
    pub(crate) fn is_empty(&self) -> bool {
        self.possible.is_empty()
    }

    /// One that is read, by something that reads these keys, or any with `None`.
    pub(in crate::exec) fn read_by(&self, reads: Option<KeySet>) -> Option<usize> {
        let lost = reads.map_or(self.certain, |reads| reads.intersection(self.possible));
        lost.first()
    }

    /// These keys were written.
    pub(crate) fn remove(&mut self, written: KeySet) {
        self.possible = self.possible.minus(written);
        self.certain = self.certain.minus(written);
    }
}

/// What to do with a task of the frontier.
pub(crate) enum TaskDisposition {
    /// Run it.
    Run,
    /// It has run before.
    Finished(FinishedTask),
    /// A person has skipped it: its plain edges fire.
    Skip,
    /// Do not run it: a person decides first.
    Wait,
}

/// What a person has decided at an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterruptDecision {
    Continue,
    Skip,
}

/// A message that the thread has not taken.
pub(crate) struct Unread {
    pub(crate) number: u64,
    pub(crate) writes: EffectsBox,
}

/// The committed state of a run.
#[derive(Clone, Copy)]
pub(crate) struct Committed<'a> {
    pub(crate) state: &'a dyn AnyState,
    /// The keys that have been written.
    pub(crate) written: KeySet,
}

/// Why a superstep is not committed.
pub(crate) struct Stopped {
    /// The tasks that failed, or whose last attempt failed.
    pub(crate) failed: Vec<(TaskId, NodeError)>,
}

/// A committed superstep and the plan for the next one.
pub(crate) struct Barrier<'a> {
    pub(crate) plan: &'a ExecutionPlan,
    pub(crate) planner: &'a Planner,
    pub(crate) frontier: &'a [Task],
    /// The superstep that was committed.
    pub(crate) superstep: u64,
    pub(crate) committed: Committed<'a>,
    /// The stored names of the nodes after which the run waits for a person.
    pub(crate) interrupt_points: Vec<String>,
}

/// The persistence of a run that is not stored.
pub(in crate::exec) struct NoPersistence;

impl Persistence for NoPersistence {}
