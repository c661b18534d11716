//! What a stored run writes down, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinHandle;

use super::dirty_keys::{DirtyKeys, KeyEntries};
use super::fingerprint::Fingerprint;
use super::stored_task::save_finished;
use super::task_entries::TaskEntries;
use crate::checkpoint::{
    Archive, Cause, DecisionRecord, Durability, Header, Outline, StoreError, StoreFuture,
    StoredCheckpoint, StoredWrite,
};
use crate::clock::now_ms;
use crate::codec::encode;
use crate::error::NodeError;
use crate::exec::TaskEnd;
use crate::ids::TaskId;
use crate::node::Effects;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId};
use crate::state::{KeySet, State, StateCodec};
use crate::superstep::{Planner, Task};
use crate::task_services::TaskServices;

/// Checkpoints with less than this many bytes since the last that stands alone are not worth another.
const SMALL: u64 = 32 * 1024;

/// What a stored run writes down, and when.
pub(crate) struct CheckpointWriter<S: State> {
    pub(crate) archive: Archive,
    pub(crate) namespace: String,
    pub(crate) codec: StateCodec<S>,
    pub(crate) program: Fingerprint,
    pub(crate) durability: Durability,
    /// The newest number in the store at this address.
    pub(crate) newest: Option<u64>,
    /// The checkpoint that the next one follows, if it is the newest in the store and so need not stand alone.
    pub(crate) parent: Option<u64>,
    /// The oldest checkpoint that is needed to read the parent.
    pub(crate) base: u64,
    /// The bytes of that one, and of those after it.
    pub(crate) sizes: (u64, u64),
    /// The number of the last barrier.
    pub(crate) seq: u64,
    /// The first frontier whose writes the store may still hold.
    pub(crate) unsettled: u64,
    pub(crate) header: Header,
    /// Which nodes stand in the header's lists.
    pub(crate) frontier: TaskEntries,
    pub(crate) deferred: TaskEntries,
    pub(crate) changes: DirtyKeys,
    /// A checkpoint that was made and not yet told to who listens.
    pub(crate) made: Option<u64>,
    /// Memory that one checkpoint after the other uses.
    pub(crate) entries: KeyEntries,
    pub(crate) next: StoredCheckpoint,
    /// What [`sizes`](Self::sizes) will be when it is in the store.
    pub(crate) next_sizes: (u64, u64),
    /// How all checkpoints of this program begin.
    pub(crate) begin: Vec<u8>,
    /// Whether the last barrier is in the store, or on its way.
    pub(crate) saved: bool,
    /// Whether the state is ahead of the last barrier that was described: then it must not be written as that barrier's.
    pub(crate) dirty: bool,
    /// Frontiers below this number are in the store.
    pub(crate) durable: Arc<AtomicU64>,
    /// For a flow inside another: what must be in the store before anything of this flow is.
    pub(crate) above: Option<ParentBarrier>,
    /// What is being written while the run goes on.
    pub(crate) in_flight: Option<JoinHandle<Result<(), StoreError>>>,
    /// How many of the superstep's finished tasks are written or being written.
    pub(crate) written_tasks: usize,
    /// The lines of the program that wrote what is followed.
    pub(crate) was: Outline,
}

/// The superstep of the flow above in which this flow runs.
pub(crate) struct ParentBarrier {
    pub(crate) services: Arc<TaskServices>,
    pub(crate) superstep: u64,
}

/// A barrier, as the writer needs to know it.
pub(crate) struct Barrier<'a> {
    pub(crate) plan: &'a ExecutionPlan,
    pub(crate) planner: &'a Planner,
    pub(crate) frontier: &'a [Task],
    pub(crate) superstep: u64,
}

impl<S: State> CheckpointWriter<S> {
    /// A writer behind the newest checkpoint in the store, if there is one; what it writes stands alone, until it
    /// [follows](Self::follow) that one.
    pub(crate) fn new(
        archive: Archive,
        namespace: String,
        codec: StateCodec<S>,
        program: Fingerprint,
        durability: Durability,
        newest: Option<u64>,
    ) -> Self {
        CheckpointWriter {
            archive,
            namespace,
            codec,
            header: header(&program),
            program,
            durability,
            newest,
            parent: None,
            base: 0,
            sizes: (0, 0),
            seq: newest.map_or(0, |newest| newest + 1),
            unsettled: 0,
            frontier: TaskEntries::default(),
            deferred: TaskEntries::default(),
            changes: DirtyKeys::default(),
            made: None,
            entries: KeyEntries::default(),
            next: StoredCheckpoint::default(),
            next_sizes: (0, 0),
            begin: Vec::new(),
            saved: true,
            dirty: false,
            durable: Arc::default(),
            above: None,
            in_flight: None,
            written_tasks: 0,
            was: Outline::default(),
        }
    }

    /// The next checkpoint follows this one, which is the newest.
    pub(crate) fn follow(&mut self, seq: u64, base: u64, sizes: (u64, u64), header: &Header) {
        self.seq = seq;
        self.parent = self.program.wrote(header).then_some(seq);
        self.header.parent = Some(seq);
        self.base = base;
        self.sizes = sizes;
        self.unsettled = header.origin;
    }

    /// Takes in the writes of a superstep, before they are applied.
    pub(crate) fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a S::Update>,
        overwritten: KeySet,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        self.dirty = true;
        self.changes.absorb(&self.codec, updates, overwritten)
    }

    /// Describes the barrier that was just reached.
    pub(crate) fn describe(&mut self, barrier: &Barrier<'_>) -> Result<(), ThreadError> {
        let Barrier {
            plan,
            planner,
            frontier,
            superstep,
        } = *barrier;
        let joins = planner.waiting().map(|join| {
            let name = &self.program.joins[join];
            let sides = planner.arrived(join).map(|side| name.sides[side].clone());
            (name.name.clone(), sides.collect())
        });
        self.header.joins.clear();
        self.header.joins.extend(joins);
        self.frontier
            .save(plan, frontier, &mut self.header.frontier)?;
        self.deferred
            .save(plan, planner.deferred(), &mut self.header.deferred)?;
        self.header.superstep = superstep;
        self.dirty = false;
        Ok(())
    }

    /// A superstep was committed. Whether the durability asks for a checkpoint here.
    pub(crate) fn advance(&mut self, barrier: &Barrier<'_>) -> Result<bool, ThreadError> {
        let superstep = barrier.superstep;
        self.seq += 1;
        self.header.origin += 1;
        self.header.cause = Cause::Superstep;
        self.header.answers.clear();
        self.describe(barrier)?;
        self.saved = false;
        self.written_tasks = 0;
        Ok(match self.durability {
            Durability::Sync | Durability::Async => true,
            Durability::Interval(supersteps) => superstep.is_multiple_of(supersteps.get()),
            Durability::Exit => false,
        })
    }

    /// Writes the last barrier as a checkpoint.
    #[inline]
    pub(crate) async fn save(&mut self, state: &S, written: KeySet) -> Result<(), ThreadError> {
        self.compose(state, written)?;
        if self.must_wait() {
            self.wait().await?;
        }
        self.append().await?;
        self.appended();
        Ok(())
    }

    /// Makes the last barrier's checkpoint the next one, to be [appended](Self::append).
    pub(crate) fn compose(&mut self, state: &S, written: KeySet) -> Result<(), ThreadError> {
        let (whole, since) = self.sizes;
        let alone = self.parent.is_none()
            || self.parent != self.newest
            || since >= SMALL.max(whole.saturating_mul(2));
        let entries = &mut self.entries;
        if alone {
            self.changes.forget();
            entries.whole(&self.codec, state, written)?;
        } else {
            self.changes.take(&self.codec, state, written, entries)?;
        }
        // The changes are taken. Until this is known to be in the store, what comes next must stand alone.
        self.parent = None;
        // Nearly always it is none before and after.
        if alone {
            self.header.outline = Some(self.program.outline.clone());
        } else if self.header.outline.is_some() {
            self.header.outline = None;
        }
        let bytes = &mut self.next.bytes;
        bytes.clear();
        if self.begin.is_empty() {
            self.begin = self.header.begin();
        }
        bytes.extend_from_slice(&self.begin);
        self.header.encode(self.entries.get(), bytes);
        let size = bytes.len() as u64;
        self.next.seq = self.seq;
        self.next.base = if alone { self.seq } else { self.base };
        self.next.created_ms = now_ms();
        self.next_sizes = if alone {
            (size, 0)
        } else {
            (whole, since + size)
        };
        Ok(())
    }

    /// Whether something must be in the store before a checkpoint is appended.
    pub(crate) fn must_wait(&self) -> bool {
        self.in_flight.is_some() || self.above.is_some()
    }

    /// Waits for that.
    pub(crate) async fn wait(&mut self) -> Result<(), ThreadError> {
        self.await_in_flight().await?;
        if let Some(ParentBarrier {
            services,
            superstep,
        }) = &self.above
        {
            services.settle(*superstep).await;
            self.above = None;
        }
        Ok(())
    }

    /// Appends the checkpoint that was made, or begins to, as the durability says.
    pub(crate) fn append(&mut self) -> StoreFuture<'_, ()> {
        let after = self.newest;
        let settled = self.unsettled..self.header.origin;
        if self.durability == Durability::Async {
            let (archive, namespace) = (self.archive.clone(), self.namespace.clone());
            let mut checkpoint = self.next.clone();
            self.in_flight = Some(tokio::spawn(async move {
                archive
                    .append(&namespace, &mut checkpoint, after, settled)
                    .await
            }));
            Box::pin(std::future::ready(Ok(())))
        } else {
            self.archive
                .append(&self.namespace, &mut self.next, after, settled)
        }
    }

    /// The checkpoint is in the store, or on its way.
    pub(crate) fn appended(&mut self) {
        let seq = Some(self.next.seq);
        self.made = seq;
        self.base = self.next.base;
        self.sizes = self.next_sizes;
        self.newest = seq;
        self.parent = seq;
        self.header.parent = seq;
        self.header.notes.clear();
        self.unsettled = self.header.origin;
        self.saved = true;
        self.note_durable();
    }

    /// Sees to it that the last barrier is in the store, whatever the durability: something that is bound to it will be.
    pub(crate) async fn settle(&mut self, state: &S, written: KeySet) -> Result<(), ThreadError> {
        if !self.saved {
            self.save(state, written).await?;
        }
        self.await_in_flight().await
    }

    /// Says so if the last barrier is in the store.
    pub(crate) fn note_durable(&self) {
        if self.saved && self.in_flight.is_none() {
            self.durable
                .store(self.header.origin + 1, Ordering::Release);
        }
    }

    /// Waits for what is being written.
    pub(crate) async fn await_in_flight(&mut self) -> Result<(), ThreadError> {
        let Some(in_flight) = &mut self.in_flight else {
            return Ok(());
        };
        // Not taken before it has ended: whoever stops waiting must not forget it.
        let ended = in_flight.await;
        self.in_flight = None;
        match ended {
            Ok(written) => written?,
            Err(lost) => return Err(StoreError::Other(lost.into()).into()),
        }
        self.note_durable();
        Ok(())
    }

    /// The superstep waits: what has finished since is written meanwhile, unless something is being written already. Not
    /// beside a barrier that a crash would lose: the tasks that ran after it would be others.
    pub(crate) fn write_finished<'a>(
        &mut self,
        plan: &ExecutionPlan,
        finished: impl ExactSizeIterator<Item = (TaskId, u32, &'a Effects<S>, &'a TaskEnd)>,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        let busy = self
            .in_flight
            .as_ref()
            .is_some_and(|in_flight| !in_flight.is_finished());
        let count = finished.len();
        if busy || count == self.written_tasks || !self.saved {
            return Ok(());
        }
        let writes = self.finished(plan, finished)?;
        self.written_tasks = count;
        let (archive, namespace, origin) = (
            self.archive.clone(),
            self.namespace.clone(),
            self.header.origin,
        );
        let before = self.in_flight.take();
        self.in_flight = Some(tokio::spawn(async move {
            if let Some(before) = before {
                before
                    .await
                    .map_err(|lost| StoreError::Other(lost.into()))??;
            }
            archive.write(&namespace, origin, writes).await
        }));
        Ok(())
    }

    /// The superstep ends without a commit: writes what its tasks have left, durably. The barrier is in the store.
    pub(crate) async fn keep<'a>(
        &mut self,
        plan: &ExecutionPlan,
        finished: impl ExactSizeIterator<Item = (TaskId, u32, &'a Effects<S>, &'a TaskEnd)>,
        failed: Option<(TaskId, &NodeError)>,
        asked: &[(TaskId, Interrupt)],
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        let mut writes = self.finished(plan, finished)?;
        let mut bytes_of = |name: String, task, value: &dyn Fn(&mut Vec<u8>) -> Result<(), _>| {
            let mut bytes = Vec::new();
            value(&mut bytes).map_err(ThreadError::value(name.clone()))?;
            writes.push(StoredWrite { task, name, bytes });
            Ok::<_, ThreadError>(())
        };
        if let Some((task, error)) = failed {
            bytes_of("error".into(), task, &|out| encode(error, out))?;
        }
        for (task, interrupt) in asked {
            bytes_of(ask_name(interrupt.id), *task, &|out| encode(interrupt, out))?;
        }
        self.await_in_flight().await?;
        if !writes.is_empty() {
            self.archive
                .write(&self.namespace, self.header.origin, writes)
                .await?;
        }
        Ok(())
    }

    fn finished<'a>(
        &self,
        plan: &ExecutionPlan,
        finished: impl Iterator<Item = (TaskId, u32, &'a Effects<S>, &'a TaskEnd)>,
    ) -> Result<Vec<StoredWrite>, ThreadError>
    where
        S: 'a,
    {
        finished
            .skip(self.written_tasks)
            .map(|(task, node, effects, end)| {
                Ok(StoredWrite {
                    task,
                    name: "done".into(),
                    bytes: save_finished(&self.codec, &self.program, plan, node, effects, end)?,
                })
            })
            .collect()
    }

    /// Adds a decision to the next checkpoint's notes.
    pub(crate) fn note(&mut self, note: DecisionRecord) {
        self.header.notes.push(note);
    }
}

impl<S: State> Drop for CheckpointWriter<S> {
    fn drop(&mut self) {
        // The run was dropped. What is being written must not await_in_flight in the next run on the thread.
        if let Some(in_flight) = &self.in_flight {
            in_flight.abort();
        }
    }
}

/// Under which name a question is stored.
#[inline]
pub(crate) fn ask_name(id: InterruptId) -> String {
    format!("ask/{id}")
}

/// The flow's name is shared by all of its checkpoints.
#[inline]
fn header(program: &Fingerprint) -> Header {
    Header {
        flow: Arc::clone(&program.flow),
        graph: program.graph,
        version: program.version,
        schema: program.schema,
        cause: Cause::Input,
        parent: None,
        origin: 0,
        turn: 0,
        superstep: 0,
        owner: None,
        frontier: Vec::new(),
        deferred: Vec::new(),
        joins: Vec::new(),
        gates: Vec::new(),
        answers: Vec::new(),
        notes: Vec::new(),
        outline: None,
    }
}
