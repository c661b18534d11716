//! What a stored run writes down, and when.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::changes::{Changes, Entries};
use super::desk::now_ms;
use super::program::Program;
use super::task::{save, save_finished};
use crate::checkpoint::{
    Archive, Cause, Header, Note, Outline, StoreError, StoredCheckpoint, StoredWrite, TaskEntry,
    encode,
};
use crate::flow::Wiring;
use crate::interrupt::{Interrupt, InterruptId};
use crate::node::Effects;
use crate::run::fork::JobEnd;
use crate::state::StateCodec;
use crate::superstep::{Planner, Task};
use crate::thread::{Durability, ThreadError};
use crate::{KeySet, NodeError, State, TaskId};

/// Checkpoints with less than this many bytes since the last that stands alone are not worth another.
const SMALL: u64 = 32 * 1024;

/// Numbers stay below what every store can hold.
pub(crate) const LAST: u64 = i64::MAX as u64;

/// What a stored run writes down, and when.
pub(crate) struct Journal<S: State> {
    pub(crate) archive: Archive,
    pub(crate) namespace: String,
    pub(crate) codec: StateCodec<S>,
    pub(crate) program: Program,
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
    /// Whether the next checkpoint begins something new: what an earlier run left beside later frontiers, before a crash lost
    /// those, is then not its own.
    pub(crate) fresh: bool,
    pub(crate) header: Header,
    pub(crate) changes: Changes,
    /// A checkpoint that was made and not yet told to who listens.
    pub(crate) made: Option<u64>,
    /// Whether the last barrier is in the store.
    pub(crate) saved: bool,
    /// What is being written while the run goes on.
    pub(crate) in_flight: Option<JoinHandle<Result<(), StoreError>>>,
    /// How many of the superstep's finished tasks are written or being written.
    pub(crate) jotted: usize,
    /// The lines of the program that wrote what is followed.
    pub(crate) was: Outline,
}

/// A barrier, as the journal needs to know it.
pub(crate) struct Barrier<'a> {
    pub(crate) wiring: &'a Wiring,
    pub(crate) planner: &'a Planner,
    pub(crate) frontier: &'a [Task],
    pub(crate) superstep: u64,
    pub(crate) gates: Vec<String>,
}

impl<S: State> Journal<S> {
    /// Takes in the writes of a superstep, before they are applied.
    pub(crate) fn absorb<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a S::Update>,
        overwritten: KeySet,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        self.changes.absorb(&self.codec, updates, overwritten)
    }

    /// Describes the barrier that was just reached.
    pub(crate) fn describe(&mut self, barrier: Barrier<'_>) -> Result<(), ThreadError> {
        let Barrier {
            wiring,
            planner,
            frontier,
            superstep,
            gates,
        } = barrier;
        let tasks = |tasks: &[Task]| -> Result<Vec<TaskEntry>, ThreadError> {
            tasks.iter().map(|task| save(wiring, task)).collect()
        };
        let joins = planner.waiting().map(|join| {
            let name = &self.program.joins[join];
            let sides = planner.arrived(join).map(|side| name.sides[side].clone());
            (name.name.clone(), sides.collect())
        });
        self.header.joins = joins.collect();
        self.header.frontier = tasks(frontier)?;
        self.header.deferred = tasks(planner.deferred())?;
        self.header.superstep = superstep;
        self.header.gates = gates;
        Ok(())
    }

    /// A superstep was committed: writes a checkpoint, if the durability asks for one here or `now` does.
    pub(crate) async fn commit(
        &mut self,
        state: &S,
        written: KeySet,
        barrier: Barrier<'_>,
        now: bool,
    ) -> Result<(), ThreadError> {
        let superstep = barrier.superstep;
        self.seq += 1;
        self.header.origin += 1;
        self.header.cause = Cause::Superstep;
        self.header.answers.clear();
        self.describe(barrier)?;
        self.saved = false;
        self.jotted = 0;
        let due = match self.durability {
            Durability::Sync | Durability::Async => true,
            Durability::Interval(supersteps) => superstep.is_multiple_of(supersteps.get()),
            Durability::Exit => false,
        };
        if due || now {
            self.save(state, written).await?;
        }
        Ok(())
    }

    /// Writes the last barrier as a checkpoint.
    pub(crate) async fn save(&mut self, state: &S, written: KeySet) -> Result<(), ThreadError> {
        let (whole, since) = self.sizes;
        let alone = self.parent.is_none()
            || self.parent != self.newest
            || since >= SMALL.max(whole.saturating_mul(2));
        let entries = if alone {
            self.changes.forget();
            Entries::whole(&self.codec, state, written)?
        } else {
            self.changes.take(&self.codec, state, written)?
        };
        self.header.outline = alone.then(|| self.program.outline.clone());
        let mut bytes = Vec::with_capacity(256);
        self.header
            .encode(&entries.get(), &mut bytes)
            .map_err(ThreadError::value("the checkpoint"))?;
        let size = bytes.len() as u64;
        if alone {
            self.base = self.seq;
            self.sizes = (size, 0);
        } else {
            self.sizes.1 += size;
        }
        let checkpoint = StoredCheckpoint {
            seq: self.seq,
            base: self.base,
            created_ms: now_ms(),
            bytes,
        };
        let end = if self.fresh { LAST } else { self.header.origin };
        let settled = self.unsettled..end;
        // What clears away all that an earlier run left must not clear away what this one leaves meanwhile.
        let meanwhile = self.durability == Durability::Async && !self.fresh;
        self.fresh = false;
        let after = self.newest;
        self.land().await?;
        if meanwhile {
            let (archive, namespace) = (self.archive.clone(), self.namespace.clone());
            self.in_flight = Some(tokio::spawn(async move {
                archive.append(&namespace, checkpoint, after, settled).await
            }));
        } else {
            self.archive
                .append(&self.namespace, checkpoint, after, settled)
                .await?;
        }
        self.made = Some(self.seq);
        self.newest = Some(self.seq);
        self.parent = Some(self.seq);
        self.header.parent = Some(self.seq);
        self.header.notes.clear();
        self.unsettled = self.header.origin;
        self.saved = true;
        Ok(())
    }

    /// Waits for what is being written.
    pub(crate) async fn land(&mut self) -> Result<(), ThreadError> {
        let Some(in_flight) = self.in_flight.take() else {
            return Ok(());
        };
        match in_flight.await {
            Ok(written) => Ok(written?),
            Err(lost) => Err(StoreError::Other(lost.into()).into()),
        }
    }

    /// The superstep waits: what has finished since is written meanwhile, unless something is being written already.
    pub(crate) fn jot<'a>(
        &mut self,
        wiring: &Wiring,
        finished: impl ExactSizeIterator<Item = (TaskId, u32, &'a Effects<S>, &'a JobEnd)>,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        let busy = self
            .in_flight
            .as_ref()
            .is_some_and(|in_flight| !in_flight.is_finished());
        let count = finished.len();
        if busy || count == self.jotted || self.durability == Durability::Exit {
            return Ok(());
        }
        let writes = self.finished(wiring, finished)?;
        self.jotted = count;
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

    /// The superstep ends without a commit: writes what its tasks have left, durably.
    pub(crate) async fn keep<'a>(
        &mut self,
        wiring: &Wiring,
        finished: impl ExactSizeIterator<Item = (TaskId, u32, &'a Effects<S>, &'a JobEnd)>,
        failed: Option<(TaskId, &NodeError)>,
        asked: &[(TaskId, Interrupt)],
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        let mut writes = self.finished(wiring, finished)?;
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
        self.land().await?;
        if !writes.is_empty() {
            self.archive
                .write(&self.namespace, self.header.origin, writes)
                .await?;
        }
        Ok(())
    }

    fn finished<'a>(
        &self,
        wiring: &Wiring,
        finished: impl Iterator<Item = (TaskId, u32, &'a Effects<S>, &'a JobEnd)>,
    ) -> Result<Vec<StoredWrite>, ThreadError>
    where
        S: 'a,
    {
        finished
            .skip(self.jotted)
            .map(|(task, node, effects, end)| {
                Ok(StoredWrite {
                    task,
                    name: "done".into(),
                    bytes: save_finished(&self.codec, &self.program, wiring, node, effects, end)?,
                })
            })
            .collect()
    }

    /// Adds a decision to the next checkpoint's notes.
    pub(crate) fn note(&mut self, note: Note) {
        self.header.notes.push(note);
    }
}

/// Under which name a question is stored.
pub(crate) fn ask_name(id: InterruptId) -> String {
    format!("ask/{id}")
}

/// The flow's name is shared by all of its checkpoints.
pub(crate) fn header(program: &Program) -> Header {
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
