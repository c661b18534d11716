//! A thread while it is opened: the changes that every way to open it shares.

use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{DecisionRecord, StoredWrite};
use crate::durable::inbox::Inbox;
use crate::durable::results::task_results::load_result;
use crate::durable::write::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use crate::durable::write::event_log::LoadedBarrier;
use crate::erased::{AnyState, EffectsBox, StateBox};
use crate::exec::{Committed, FinishedTask, LostKeys};
use crate::ids::{Namespace, TaskId};
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::Interrupt;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};
use crate::task_services::question::AnswerBook;
use crate::task_services::{ParentTask, TaskServices};

/// A thread that is ready to run.
pub(in crate::durable) struct OpenedThread {
    pub(in crate::durable) state: StateBox,
    /// The keys that have been written.
    pub(in crate::durable) written: KeySet,
    pub(in crate::durable) planner: Planner,
    pub(in crate::durable) frontier: Vec<Task>,
    pub(in crate::durable) superstep: u64,
    pub(in crate::durable) writer: CheckpointWriter,
    pub(in crate::durable) services: TaskServices,
    /// The results of tasks of the frontier that have run already.
    pub(in crate::durable) finished: HashMap<TaskId, FinishedTask>,
    /// The messages to the thread, if it takes them.
    pub(in crate::durable) inbox: Option<Inbox>,
    /// What must be answered before anything runs.
    pub(in crate::durable) waiting: Vec<Interrupt>,
    /// The decision of a person that ended the run here.
    pub(in crate::durable) rejected: Option<DecisionRecord>,
    /// The keys whose values were not stored.
    pub(in crate::durable) lost: LostKeys,
    /// The checkpoint with which it was loaded, if a run has written it.
    pub(in crate::durable) loaded: Option<LoadedBarrier>,
}

impl OpenedThread {
    /// The flow is the sub-flow of this task, and has the answers of its run.
    pub(in crate::durable) fn nest_in(&mut self, parent: ParentTask) {
        self.services.answers = Arc::clone(&parent.services.answers);
        self.services.parent = Some(parent);
    }
}

/// A thread while it is opened.
pub(in crate::durable) struct ThreadOpener<'a> {
    pub(in crate::durable) plan: &'a ExecutionPlan,
    pub(in crate::durable) planner: Planner,
    pub(in crate::durable) writer: CheckpointWriter,
    pub(in crate::durable) namespace: Namespace,
    pub(in crate::durable) inbox: Option<Inbox>,
}

impl ThreadOpener<'_> {
    /// Plans the first superstep of a turn.
    pub(in crate::durable) async fn start(
        mut self,
        turn: u64,
        state: StateBox,
        written: KeySet,
    ) -> Result<OpenedThread, ThreadError> {
        let mut frontier = Vec::new();
        self.planner.start(self.plan, &mut frontier);
        self.writer.begin_turn(turn);
        self.save_change(&*state, written, &frontier, 0).await?;
        self.opened(state, written, frontier, 0, &[])
    }

    /// Applies writes from outside.
    pub(in crate::durable) fn write(
        &mut self,
        state: &mut dyn AnyState,
        written: &mut KeySet,
        mut writes: EffectsBox,
    ) -> Result<(), ThreadError> {
        let checked = state.validate(KeySet::NONE, &[&*writes]);
        checked.map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        let overwritten = writes.overwritten();
        self.writer.record_writes(&[&*writes], overwritten)?;
        // This is not a superstep: values that last one superstep remain.
        state.commit(&mut *writes, overwritten, written);
        Ok(())
    }

    /// Applies the messages that the thread has not taken, up to one that is refused: the first barrier reports it.
    pub(in crate::durable) async fn take_messages(
        &mut self,
        state: &mut dyn AnyState,
        written: &mut KeySet,
    ) -> Result<(), ThreadError> {
        let Some(inbox) = &mut self.inbox else {
            return Ok(());
        };
        let (storage, codec) = (self.writer.storage(), self.writer.codec());
        for message in inbox.unread(storage, codec).await? {
            if state.validate(KeySet::NONE, &[&*message.writes]).is_err() {
                break;
            }
            self.write(state, written, message.writes)?;
            self.writer.take_messages(message.number);
            if let Some(inbox) = &mut self.inbox {
                inbox.take(message.number);
            }
        }
        Ok(())
    }

    /// Puts the frontier into the header of the next checkpoint.
    pub(in crate::durable) fn describe(
        &mut self,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.writer.describe(&PlannedFrontier {
            plan: self.plan,
            planner: &self.planner,
            frontier,
            superstep,
        })
    }

    /// Writes a checkpoint of the change.
    pub(in crate::durable) async fn save_change(
        &mut self,
        state: &dyn AnyState,
        written: KeySet,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        let planned = PlannedFrontier {
            plan: self.plan,
            planner: &self.planner,
            frontier,
            superstep,
        };
        self.writer
            .save_change(&planned, Committed { state, written })
            .await
    }

    /// The thread, with the records that the tasks of the frontier have left.
    pub(in crate::durable) fn opened(
        self,
        state: StateBox,
        written: KeySet,
        frontier: Vec<Task>,
        superstep: u64,
        writes: &[StoredWrite],
    ) -> Result<OpenedThread, ThreadError> {
        let ThreadOpener {
            plan,
            planner,
            writer,
            namespace,
            inbox,
        } = self;
        let answers = AnswerBook::of(writer.answers());
        let mut services = TaskServices::new(
            writer.storage().clone(),
            (writer.durability(), writer.retention()),
            namespace,
            writer.origin().get().wrapping_sub(superstep),
            Arc::new(answers),
            writer.stored_mark(),
        );
        writer.mark_stored();
        services.ty = Some(writer.codec().ty);
        services
            .restore(writes)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let finished = load_results(plan, &writer, &frontier, writes)?;
        Ok(OpenedThread {
            state,
            written,
            planner,
            frontier,
            superstep,
            writer,
            services,
            finished,
            inbox,
            waiting: Vec::new(),
            rejected: None,
            lost: LostKeys::default(),
            loaded: None,
        })
    }
}

/// The results of tasks of the frontier that have run already.
fn load_results(
    plan: &ExecutionPlan,
    writer: &CheckpointWriter,
    frontier: &[Task],
    writes: &[StoredWrite],
) -> Result<HashMap<TaskId, FinishedTask>, ThreadError> {
    let mut finished = HashMap::new();
    for task in frontier {
        let id = writer.storage().task_id(
            writer.namespace(),
            writer.origin().get(),
            plan.stored_name(task.node),
            task.send,
        );
        let program = (writer.fingerprint(), writer.previous_outline());
        let loaded = load_result(writer.codec(), program, plan, (id, task.node), writes)?;
        if let Some(loaded) = loaded {
            finished.insert(id, loaded);
        }
    }
    Ok(finished)
}
