//! Loads a checkpoint: the state, and the records of tasks beside it.

use std::collections::{HashMap, HashSet};

use super::replay::replay;
use crate::checkpoint::{
    CodecError, Outline, Record, StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadStorage,
    WriteName,
};
use crate::durable::record::fingerprint::Fingerprint;
use crate::durable::record::seq::{ChainSize, CheckpointSeq, Position};
use crate::erased::{AnyCodec, StateBox};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::question::{Interrupt, InterruptId, InterruptKind};
use crate::state::KeySet;

/// A checkpoint that was loaded and fits the program.
pub(crate) struct LoadedCheckpoint {
    pub(crate) state: StateBox,
    pub(crate) written: KeySet,
    /// The keys that had a value, which was not stored.
    pub(crate) lost: KeySet,
    pub(crate) record: Record,
    pub(crate) position: Position,
    pub(crate) created_ms: u64,
    /// The bytes of the checkpoint itself.
    pub(crate) own_bytes: u64,
    /// The outline of the program that wrote the base.
    pub(crate) outline: Outline,
    /// The records of tasks beside it.
    pub(crate) writes: Vec<StoredWrite>,
}

/// Loads a checkpoint: the newest, or the one with this number. From then on the storage knows the incarnation of the thread.
pub(crate) async fn load_checkpoint(
    storage: &ThreadStorage,
    namespace: &str,
    seq: Option<u64>,
    codec: AnyCodec,
    program: &Fingerprint,
) -> Result<Option<LoadedCheckpoint>, ThreadError> {
    let Some(Stored { chain, mut writes }) = storage.read(namespace, seq).await? else {
        return Ok(None);
    };
    let mut records = records(storage, &chain)?;
    let Some(newest) = chain.last() else {
        return Err(damaged(storage, "a chain of checkpoints is empty".into()));
    };
    let (seq, created_ms) = (newest.seq, newest.created_ms);
    let size = |checkpoint: &StoredCheckpoint| checkpoint.bytes.len() as u64;
    let position = Position {
        seq: CheckpointSeq::new(seq),
        base: CheckpointSeq::new(newest.base),
        size: ChainSize {
            checkpoints: chain.len() as u64,
            bytes: chain.iter().map(size).sum(),
            limit: 0,
        },
    };
    let own_bytes = size(newest);
    let outline = records
        .first()
        .and_then(|record| record.header.outline.clone())
        .unwrap_or_default();
    let (state, written, lost) = replay(&mut records, codec, program, &storage.thread)?;
    let Some(record) = records.into_iter().next_back() else {
        return Err(damaged(storage, "a chain of checkpoints is empty".into()));
    };
    storage.set_incarnation(record.header.incarnation);
    if record.header.origin != seq {
        writes = storage.writes(namespace, record.header.origin).await?;
    }
    Ok(Some(LoadedCheckpoint {
        state,
        written,
        lost,
        record,
        position,
        created_ms,
        own_bytes,
        outline,
        writes,
    }))
}

/// Decodes a checkpoint and those that it builds on. Fails if one of them is missing.
pub(in crate::durable) fn records(
    storage: &ThreadStorage,
    chain: &[StoredCheckpoint],
) -> Result<Vec<Record>, ThreadError> {
    let records = decode(chain)
        .map_err(|(seq, problem)| damaged(storage, format!("checkpoint {seq}: {problem}")))?;
    // Protection covers each checkpoint, but not that all of them are present.
    let parents = records.iter().skip(1).map(|record| record.header.parent);
    let before = chain.iter().map(|checkpoint| Some(checkpoint.seq));
    let follows = parents.zip(before).all(|(parent, before)| parent == before);
    if let (Some(first), Some(newest)) = (chain.first(), chain.last())
        && (!follows || first.base != first.seq)
    {
        return Err(damaged(
            storage,
            format!(
                "checkpoint {} builds on the checkpoints since {}, and one of them is missing",
                newest.seq, newest.base
            ),
        ));
    }
    Ok(records)
}

/// Decodes the checkpoints of a chain. An error has the number of its checkpoint.
pub(in crate::durable) fn decode(
    chain: &[StoredCheckpoint],
) -> Result<Vec<Record>, (u64, CodecError)> {
    let mut records: Vec<Record> = Vec::with_capacity(chain.len());
    for StoredCheckpoint { seq, bytes, .. } in chain {
        let base = records.first().map(|first| &first.header);
        let record = Record::decode(*seq, bytes, base).map_err(|problem| (*seq, problem))?;
        records.push(record);
    }
    Ok(records)
}

fn damaged(storage: &ThreadStorage, problem: String) -> ThreadError {
    ThreadError::Store(StoreError::Damaged {
        thread: storage.thread.to_string(),
        problem,
    })
}

/// What a thread waits for, with the tasks that wait: the questions and interrupts without an answer.
pub(crate) fn waiting(
    storage: &ThreadStorage,
    namespace: &str,
    names: NodeNames<'_>,
    record: &Record,
    writes: &[StoredWrite],
) -> Result<Vec<(TaskId, Interrupt)>, ThreadError> {
    let header = &record.header;
    let answers: HashSet<[u8; 16]> = header.answers.iter().map(|answer| answer.id).collect();
    let answered = |id: InterruptId| answers.contains(&id.to_bytes());
    // A task that finished without the answer, because the question expired, does not wait for it.
    let is_done = |write: &&StoredWrite| write.contents() == Some(WriteName::Done);
    let done: HashSet<TaskId> = writes.iter().filter(is_done).map(|it| it.task).collect();
    let mut waiting = Vec::new();
    let asks = || {
        let asks = writes
            .iter()
            .filter(|write| matches!(write.contents(), Some(WriteName::Ask(_))));
        asks.filter(|write| !done.contains(&write.task))
    };
    let mut askers = HashMap::new();
    if asks().next().is_some() {
        askers.extend(header.frontier.iter().map(|task| {
            let id = storage.task_id(namespace, header.origin, &task.node, task.send);
            (id, &*task.node)
        }));
    }
    for write in asks() {
        let mut interrupt: Interrupt =
            Interrupt::decode(&write.bytes).map_err(ThreadError::value("a stored question"))?;
        // The node of a sub-flow retains its recorded name, which this flow cannot translate.
        let asker = askers.get(&write.task);
        if let Some(node) = asker.filter(|_| interrupt.namespace == namespace) {
            interrupt.node = names.of(node).into();
        }
        if !answered(interrupt.id) {
            waiting.push((write.task, interrupt));
        }
    }
    waiting.sort_by_key(|(_, interrupt)| interrupt.position);
    for node in &header.interrupt_points {
        let (task, mut interrupt) = interrupt_at(
            storage,
            namespace,
            header.origin,
            node,
            InterruptKind::After,
        );
        interrupt.node = names.of(node).into();
        if !answered(interrupt.id) {
            waiting.push((task, interrupt));
        }
    }
    Ok(waiting)
}

/// The interrupt before or after a node, with the task that waits.
pub(crate) fn interrupt_at(
    storage: &ThreadStorage,
    namespace: &str,
    origin: u64,
    node: &str,
    kind: InterruptKind,
) -> (TaskId, Interrupt) {
    let task = storage.task_id(namespace, origin, node, None);
    let key = match kind {
        InterruptKind::After => "after",
        _ => "before",
    };
    let id = InterruptId::of(task, key);
    (task, Interrupt::new(id, node, namespace, kind))
}
