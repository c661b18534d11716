//! Writes the checkpoints of one flow on a thread.
//!
//! The writer holds the header of the next checkpoint and the keys that have changed. Its methods name the events that
//! change them: a turn begins, a thread is resumed, a superstep is committed. [`append`] encodes a checkpoint and writes it;
//! [`results`] stores the results of tasks beside it.

mod append;
mod pruning;
mod results;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::checkpoint::{
    AnswerEntry, Cause, DecisionRecord, Durability, Header, Outline, Retention, StoreChange,
    StoreError, StoredCheckpoint, ThreadStorage,
};
use crate::durable::record::attributes::ThreadAttributes;
use crate::durable::record::dirty_keys::{DirtyKeys, KeyEntries};
use crate::durable::record::fingerprint::Fingerprint;
use crate::durable::record::seq::{ChainSize, CheckpointSeq, Origin, Position};
use crate::durable::record::task_entries::TaskEntries;
use crate::erased::{AnyCodec, AnyEffects};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};
use crate::task_services::{StoredMark, TaskServices};
use pruning::Pruning;

/// Writes the checkpoints of one flow on a thread.
pub(crate) struct CheckpointWriter {
    storage: ThreadStorage,
    namespace: String,
    codec: AnyCodec,
    fingerprint: Fingerprint,
    durability: Durability,
    /// The newest checkpoint in the store.
    newest: Option<CheckpointSeq>,
    /// The checkpoint that the next one builds on. `None` if the next one must not build on another.
    builds_on: Option<CheckpointSeq>,
    /// The oldest checkpoint that is needed to read `builds_on`.
    base: CheckpointSeq,
    /// The bytes from `base` on.
    size: ChainSize,
    /// The number of the last barrier.
    seq: CheckpointSeq,
    /// The oldest frontier whose task results may still be in the store.
    oldest_results: Origin,
    /// How many writes had begun when those of earlier supersteps were removed. `None` if an earlier run may have left some.
    settled_writes: Option<u64>,
    /// The header of the last barrier.
    header: Header,
    frontier: TaskEntries,
    deferred: TaskEntries,
    dirty: DirtyKeys,
    /// A checkpoint that was written and not yet reported.
    unreported: Option<CheckpointSeq>,
    /// Whether the last barrier is in the store, or is being written.
    saved: bool,
    /// Whether the state is ahead of the header. Then the two must not be written together.
    is_ahead: bool,
    stored: StoredMark,
    /// For a sub-flow: the barrier of its parent, which must be in the store before any checkpoint of this flow.
    parent_barrier: Option<ParentBarrier>,
    /// A write that runs while the run continues.
    in_flight: Option<JoinHandle<Result<(), StoreError>>>,
    /// How many results of the superstep are written or being written.
    written_results: usize,
    /// The tasks of the superstep whose results an earlier run has written.
    restored_results: HashSet<TaskId>,
    /// The outline of the program that wrote the checkpoint that was loaded.
    previous_outline: Outline,
    pruning: Pruning,
    /// The last message that is in the state or was refused, if the store does not know of it.
    taken_message: Option<u64>,
    /// By the name of the key in storage, the last message that a node of a superstep that was committed has received, if the store
    /// does not know of it.
    received: BTreeMap<String, u64>,
    /// What is changed together with the next checkpoint.
    with_next: Vec<StoreChange>,
    attributes: ThreadAttributes,
    next: NextCheckpoint,
    /// The time, until the run waits: reading it takes as long as encoding a small checkpoint.
    now_ms: Option<u64>,
}

/// The checkpoint that is written next. Its memory is reused.
#[derive(Default)]
struct NextCheckpoint {
    keys: KeyEntries,
    checkpoint: StoredCheckpoint,
    /// The bytes from its base on.
    size: ChainSize,
    /// How many writes had begun when it was appended.
    begun_writes: u64,
}

/// The superstep of the parent flow in which this flow runs.
pub(crate) struct ParentBarrier {
    pub(crate) services: Arc<TaskServices>,
    pub(crate) superstep: u64,
}

/// A frontier and where it was planned.
pub(crate) struct PlannedFrontier<'a> {
    pub(crate) plan: &'a ExecutionPlan,
    pub(crate) planner: &'a Planner,
    pub(crate) frontier: &'a [Task],
    pub(crate) superstep: u64,
}

impl CheckpointWriter {
    /// A writer after the newest checkpoint in the store, if there is one. Its first checkpoint builds on no other, unless it
    /// [follows](Self::follow) that one.
    pub(in crate::durable) fn new(
        storage: ThreadStorage,
        namespace: String,
        codec: AnyCodec,
        fingerprint: Fingerprint,
        durability: Durability,
        newest: Option<CheckpointSeq>,
    ) -> Self {
        CheckpointWriter {
            header: empty_header(&fingerprint, storage.incarnation()),
            storage,
            namespace,
            codec,
            fingerprint,
            durability,
            newest,
            builds_on: None,
            base: CheckpointSeq::default(),
            size: ChainSize::default(),
            seq: CheckpointSeq::after(newest),
            oldest_results: Origin::default(),
            settled_writes: None,
            frontier: TaskEntries::default(),
            deferred: TaskEntries::default(),
            dirty: DirtyKeys::default(),
            unreported: None,
            saved: true,
            is_ahead: false,
            stored: StoredMark::default(),
            parent_barrier: None,
            in_flight: None,
            written_results: 0,
            restored_results: HashSet::new(),
            previous_outline: Outline::default(),
            pruning: Pruning::default(),
            taken_message: None,
            received: BTreeMap::new(),
            with_next: Vec::new(),
            attributes: ThreadAttributes::new(newest.is_some()),
            next: NextCheckpoint::default(),
            now_ms: None,
        }
    }

    /// The store has the results of these tasks of the superstep.
    pub(in crate::durable) fn set_restored_results(
        &mut self,
        tasks: impl IntoIterator<Item = TaskId>,
    ) {
        self.restored_results = tasks.into_iter().collect();
    }

    /// Sets the outline of the program that wrote the checkpoint that was loaded.
    pub(in crate::durable) fn set_previous_outline(&mut self, outline: Outline) {
        self.previous_outline = outline;
    }

    /// The run has waited. The next checkpoint reads the clock.
    pub(in crate::durable) fn forget_time(&mut self) {
        self.now_ms = None;
    }

    /// Sets which checkpoints remain while the run continues.
    pub(in crate::durable) fn set_retention(&mut self, retention: Retention) {
        self.pruning.retention = retention;
    }

    /// Sets the task of the parent flow for which this flow runs.
    pub(in crate::durable) fn set_owner(&mut self, owner: TaskId) {
        self.header.owner = Some(owner.to_bytes());
    }

    pub(in crate::durable) fn set_parent_barrier(&mut self, parent: ParentBarrier) {
        self.parent_barrier = Some(parent);
    }

    /// The results of tasks since this frontier may be removed with the next checkpoint.
    pub(in crate::durable) fn set_oldest_results(&mut self, origin: Origin) {
        self.oldest_results = origin;
    }

    /// The next checkpoint follows this one, which is the newest.
    pub(in crate::durable) fn follow(&mut self, position: Position, header: &Header) {
        self.seq = position.seq;
        self.builds_on = self.fingerprint.matches(header).then_some(position.seq);
        self.header.parent = Some(position.seq.get());
        self.base = position.base;
        self.size = position.size;
        self.oldest_results = Origin::new(header.origin);
    }

    /// Continues the turn and the frontier of this checkpoint, which is the newest.
    pub(in crate::durable) fn resume_from(&mut self, position: Position, header: &Header) {
        self.follow(position, header);
        self.header.turn = header.turn;
        self.header.origin = header.origin;
        self.header.owner = header.owner;
        self.header
            .interrupt_points
            .clone_from(&header.interrupt_points);
        self.header.answers.clone_from(&header.answers);
    }

    /// Begins a turn with a new input.
    pub(in crate::durable) fn begin_turn(&mut self, turn: u64) {
        self.seq = CheckpointSeq::after(self.newest);
        self.header.turn = turn;
        self.header.origin = self.seq.get();
        self.header.cause = Cause::Input;
    }

    /// Begins a change that is not a superstep: answers, edits, or a rejection.
    pub(in crate::durable) fn begin_change(&mut self, cause: Cause) {
        self.seq = self.seq.next();
        self.header.cause = cause;
        if cause == Cause::Rejected {
            self.header.origin = self.seq.get();
        }
    }

    /// Begins a fork: a copy of the checkpoint with this header, without its past.
    pub(in crate::durable) fn begin_fork(&mut self, of: Header, parent: Option<CheckpointSeq>) {
        let header = &mut self.header;
        header.cause = Cause::Fork;
        header.parent = parent.map(CheckpointSeq::get);
        // Another thread with a copy was not started by that task.
        header.owner = of.owner.filter(|_| parent.is_some());
        header.turn = of.turn;
        header.superstep = of.superstep;
        header.frontier = of.frontier;
        header.deferred = of.deferred;
        header.joins = of.joins;
        header.interrupt_points = of.interrupt_points;
        header.origin = self.seq.get();
        // The task results of earlier checkpoints remain.
        self.oldest_results = self.seq.as_origin();
    }

    /// The change replaces the frontier, with its interrupts and answers.
    pub(in crate::durable) fn replace_frontier(&mut self) {
        self.header.origin = self.seq.get();
        self.header.interrupt_points.clear();
        self.header.answers.clear();
    }

    /// The run does not wait after any node.
    pub(in crate::durable) fn clear_interrupt_points(&mut self) {
        self.header.interrupt_points.clear();
    }

    /// Sets the stored names of the nodes after which the run waits.
    pub(in crate::durable) fn set_interrupt_points(&mut self, interrupt_points: Vec<String>) {
        self.header.interrupt_points = interrupt_points;
    }

    pub(in crate::durable) fn add_answer(&mut self, answer: AnswerEntry) {
        self.header.answers.push(answer);
    }

    /// Adds a decision to the records of the next checkpoint.
    pub(in crate::durable) fn add_decision(&mut self, decision: DecisionRecord) {
        self.header.notes.push(decision);
    }

    /// Sets the keys that had a value in the checkpoint that was loaded, which was not stored.
    pub(in crate::durable) fn set_lost(&mut self, lost: KeySet) {
        self.dirty.set_lost(lost);
    }

    /// The values of these keys have changed in another way than by writes.
    pub(in crate::durable) fn mark_changed(&mut self, keys: KeySet) {
        self.dirty.mark(self.codec.ty, keys);
    }

    /// Records the writes of a superstep, before they are applied.
    pub(in crate::durable) fn record_writes(
        &mut self,
        effects: &[&dyn AnyEffects],
        overwritten: KeySet,
    ) -> Result<(), ThreadError> {
        self.is_ahead = true;
        self.dirty.record(self.codec, effects, overwritten)
    }

    /// A superstep was committed. Returns whether the durability asks for a checkpoint now.
    pub(in crate::durable) fn advance(
        &mut self,
        planned: &PlannedFrontier<'_>,
    ) -> Result<bool, ThreadError> {
        let superstep = planned.superstep;
        self.seq = self.seq.next();
        self.header.origin += 1;
        self.header.cause = Cause::Superstep;
        self.header.answers.clear();
        self.describe(planned)?;
        self.saved = false;
        self.written_results = 0;
        self.restored_results.clear();
        Ok(self.durability.writes_after(superstep))
    }

    /// Puts the frontier into the header.
    pub(in crate::durable) fn describe(
        &mut self,
        planned: &PlannedFrontier<'_>,
    ) -> Result<(), ThreadError> {
        let PlannedFrontier {
            plan,
            planner,
            frontier,
            superstep,
        } = *planned;
        if !plan.joins.is_empty() {
            let joins = planner.waiting().map(|join| {
                let name = &self.fingerprint.joins[join.index()];
                let sides = planner.arrived(join).map(|side| name.sides[side].clone());
                (name.name.clone(), sides.collect())
            });
            self.header.joins.clear();
            self.header.joins.extend(joins);
        }
        self.frontier
            .save(plan, frontier, &mut self.header.frontier)?;
        let deferred = planner.deferred();
        if !deferred.is_empty() || !self.header.deferred.is_empty() {
            self.deferred
                .save(plan, deferred, &mut self.header.deferred)?;
        }
        self.header.superstep = superstep;
        self.is_ahead = false;
        Ok(())
    }

    pub(in crate::durable) fn storage(&self) -> &ThreadStorage {
        &self.storage
    }

    pub(in crate::durable) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(in crate::durable) fn codec(&self) -> AnyCodec {
        self.codec
    }

    pub(in crate::durable) fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    pub(in crate::durable) fn previous_outline(&self) -> &Outline {
        &self.previous_outline
    }

    pub(in crate::durable) fn durability(&self) -> Durability {
        self.durability
    }

    /// Which checkpoints remain while the run continues.
    pub(in crate::durable) fn retention(&self) -> Retention {
        self.pruning.retention
    }

    /// Whether the results of tasks remain when their superstep is committed.
    pub(in crate::durable) fn keeps_results(&self) -> bool {
        self.pruning.retention.results
    }

    pub(in crate::durable) fn stored_mark(&self) -> StoredMark {
        self.stored.clone()
    }

    /// The number of the last barrier.
    pub(in crate::durable) fn seq(&self) -> CheckpointSeq {
        self.seq
    }

    /// The origin of the frontier.
    pub(in crate::durable) fn origin(&self) -> Origin {
        Origin::new(self.header.origin)
    }

    pub(in crate::durable) fn turn(&self) -> u64 {
        self.header.turn
    }

    pub(in crate::durable) fn answers(&self) -> &[AnswerEntry] {
        &self.header.answers
    }

    /// The stored names of the nodes after which the run waits.
    pub(in crate::durable) fn interrupt_points(&self) -> &[String] {
        &self.header.interrupt_points
    }

    /// Whether this is a sub-flow, and the barrier of its parent is not known to be in the store.
    pub(in crate::durable) fn has_parent_barrier(&self) -> bool {
        self.parent_barrier.is_some()
    }

    /// The checkpoint that was written since the last call, if any.
    pub(in crate::durable) fn take_unreported(&mut self) -> Option<CheckpointSeq> {
        self.unreported.take()
    }
}

impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        // The run was dropped. Its last write must not reach the store during the next run on the thread.
        if let Some(in_flight) = &self.in_flight {
            in_flight.abort();
        }
    }
}

/// The header of a checkpoint of this program. All checkpoints share the name of the flow.
fn empty_header(fingerprint: &Fingerprint, incarnation: u64) -> Header {
    Header {
        incarnation,
        flow: Arc::clone(&fingerprint.flow),
        graph: fingerprint.graph,
        version: fingerprint.version,
        schema: fingerprint.schema,
        cause: Cause::Input,
        parent: None,
        origin: 0,
        turn: 0,
        superstep: 0,
        owner: None,
        frontier: Vec::new(),
        deferred: Vec::new(),
        joins: Vec::new(),
        interrupt_points: Vec::new(),
        answers: Vec::new(),
        notes: Vec::new(),
        outline: None,
    }
}
