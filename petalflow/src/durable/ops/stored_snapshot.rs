//! A thread at a checkpoint, without the types of its program.

use super::thread_ops::results_beside;
use crate::checkpoint::{Stored, ThreadStorage, WriteName};
use crate::durable::load::checkpoint::{records, waiting};
use crate::durable::load::replay::logs;
use crate::durable::load::untyped;
use crate::error::NodeError;
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::snapshot::{CheckpointInfo, StoredSnapshot, StoredSubflowRun, TaskState};
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

/// The runs of all sub-flows of a thread that it still has, the oldest first.
pub(crate) async fn subflow_runs(
    storage: &ThreadStorage,
) -> Result<Vec<StoredSubflowRun>, ThreadError> {
    let mut runs = Vec::new();
    for namespace in storage.flows().await? {
        if namespace.is_empty() {
            continue;
        }
        let mut stored = storage.history(&namespace, None, usize::MAX).await?;
        stored.reverse();
        let headers = storage.records(&namespace, &stored).await?;
        let owners: Vec<_> = headers.into_iter().map(|it| it.header.owner).collect();
        let mut begun_ms = None;
        for (index, checkpoint) in stored.iter().enumerate() {
            let begun = *begun_ms.get_or_insert(checkpoint.created_ms);
            // Each run belongs to another task.
            if owners.get(index + 1) == owners.get(index) {
                continue;
            }
            begun_ms = None;
            let Some(Stored { chain, .. }) = storage.read(&namespace, Some(checkpoint.seq)).await?
            else {
                continue;
            };
            let mut records = records(storage, &chain)?;
            let logs = logs(&mut records);
            let keys = untyped::values(logs.iter());
            runs.push(StoredSubflowRun {
                namespace: namespace.clone(),
                begun_ms: begun,
                keys: keys.map_err(ThreadError::value("the value of a key"))?,
            });
        }
    }
    // Stable: those of the same time stay in the order of their namespaces.
    runs.sort_by_key(|run| run.begun_ms);
    Ok(runs)
}
