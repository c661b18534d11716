//! What was stored of a thread before each of its supersteps.

use std::collections::{BTreeMap, BTreeSet};

use super::located::Located;
use crate::checkpoint::{StoredWrite, WriteName};
use crate::thread_file::{FileCheckpoint, FileFlow, FileThread};
use petalflow_store::codec::{Unpack, unpack};

/// The number of the last message that the thread has taken at a checkpoint, as far as it was recorded.
fn taken_at(own: &FileFlow, seq: u64) -> u64 {
    let taken = own
        .writes
        .iter()
        .filter(|(at, write)| *at <= seq && write.contents() == Some(WriteName::Taken));
    let numbers = taken.filter_map(|(_, write)| unpack(&write.bytes, Unpack::number).ok());
    numbers.max().unwrap_or(0)
}

/// What was stored of the thread when the tasks of the step ended. `adopt` changes the records of results; `None` removes them.
pub(super) fn stored_before(
    thread: &FileThread,
    at: &Located<'_>,
    adopt: impl Fn(&str, StoredWrite) -> Option<StoredWrite>,
) -> FileThread {
    let mut before = thread.with_flows(BTreeMap::new());
    let Some(own) = thread.flows.get("") else {
        return before;
    };
    let mut owners = BTreeSet::new();
    for (namespace, flow) in &thread.flows {
        let mut kept = flow.clone();
        if let Some(newest) = at.cuts.get(&**namespace) {
            kept.checkpoints
                .retain(|checkpoint| checkpoint.seq <= *newest);
        } else {
            let is_known = |checkpoint: &FileCheckpoint| {
                let owner = checkpoint.record.header.owner;
                owner.is_some_and(|owner| owners.contains(&owner))
            };
            let end = kept.checkpoints.iter().rposition(is_known);
            kept.checkpoints.truncate(end.map_or(0, |last| last + 1));
        }
        let Some(newest) = kept.checkpoints.last().map(|newest| newest.seq) else {
            continue;
        };
        for checkpoint in &kept.checkpoints {
            let header = &checkpoint.record.header;
            let id = |node: &str, send| thread.task_id(namespace, header, node, send).to_bytes();
            owners.extend(header.frontier.iter().map(|task| id(&task.node, task.send)));
            if namespace.is_empty() {
                let mut fork = header.clone();
                fork.origin = checkpoint.seq;
                owners.insert(thread.task_id("", &fork, "", None).to_bytes());
            }
        }
        let is_done = |write: &StoredWrite| write.contents() == Some(WriteName::Done);
        let writes = std::mem::take(&mut kept.writes).into_iter();
        let writes = writes.filter(|(at, _)| *at <= newest);
        kept.writes = writes
            .filter_map(|(at, write)| {
                let write = if is_done(&write) {
                    adopt(namespace, write)
                } else {
                    Some(write)
                };
                Some((at, write?))
            })
            .collect();
        before.flows.insert(namespace.clone(), kept);
    }
    let taken = taken_at(own, at.own.start.seq);
    let until = at
        .own
        .committed
        .map_or(taken, |committed| taken_at(own, committed.seq));
    before.set_messages(thread, until, taken);
    before
}
