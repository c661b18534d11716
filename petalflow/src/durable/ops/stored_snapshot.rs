//! A thread at a checkpoint, without the types of its program.

use super::thread_ops::results_beside;
use crate::checkpoint::{Stored, ThreadStorage, WriteName};
use crate::durable::load::checkpoint::{records, waiting};
use crate::durable::load::replay::logs;
use crate::durable::load::untyped;
use crate::error::NodeError;
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::snapshot::{CheckpointInfo, StoredSnapshot, TaskState};
use petalflow_store::codec::unpack;

/// A thread at its newest checkpoint, or at the one with this number. `None` if it does not exist.
pub(crate) async fn stored_snapshot(
    storage: &ThreadStorage,
    checkpoint: Option<u64>,
) -> Result<Option<StoredSnapshot>, ThreadError> {
    let Some(Stored { chain, mut writes }) = storage.read("", checkpoint).await? else {
        return Ok(None);
    };
    let mut records = records(storage, &chain)?;
    let logs = logs(&mut records);
    let (Some(record), Some(newest)) = (records.pop(), chain.last()) else {
        return Ok(None);
    };
    storage.set_incarnation(record.header.incarnation);
    if record.header.origin != newest.seq {
        writes = storage.writes("", record.header.origin).await?;
    }
    let waits = waiting(storage, "", NodeNames::Stored, &record, &writes)?;
    let header = &record.header;
    let finished = results_beside(storage, header).await?;
    let mut tasks = Vec::with_capacity(header.frontier.len());
    for (task, finished) in header.frontier.iter().zip(finished) {
        let id = storage.task_id("", header.origin, &task.node, task.send);
        let error = writes.iter().find(|write| write.is(id, WriteName::Error));
        let error = error.map(|write| {
            unpack(&write.bytes, NodeError::unpack).map_err(ThreadError::value("a stored failure"))
        });
        tasks.push(TaskState {
            node: task.node.clone(),
            index: task.send.map(|send| send as usize),
            finished,
            error: error.transpose()?.filter(|_| !finished),
            receives: TaskState::awaited(id, finished, &writes),
        });
    }
    let mut info = CheckpointInfo::of(newest, &record, NodeNames::Stored);
    let unfinished = tasks.iter().filter(|task| !task.finished);
    info.next = unfinished.map(|task| task.node.clone()).collect();
    let keys = untyped::values(logs.iter());
    Ok(Some(StoredSnapshot {
        info,
        flow: header.flow.to_string(),
        keys: keys.map_err(ThreadError::value("the value of a key"))?,
        tasks,
        interrupts: waits.into_iter().map(|(_, interrupt)| interrupt).collect(),
    }))
}
