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

/// The number of the oldest checkpoint that is needed to read the newest one of the thread's own flow, and of the oldest records that are
/// beside it. A replay resumes at each superstep, so what is older must not be copied each time. The history of a sub-flow is needed as a
/// whole: a later call finds the earlier ones.
fn needed(namespace: &str, newest: &FileCheckpoint) -> (u64, u64) {
    if namespace.is_empty() {
        (newest.base, newest.record.header.origin)
    } else {
        (0, 0)
    }
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
        let end = if let Some(newest) = at.cuts.get(&**namespace) {
            flow.checkpoints
                .partition_point(|checkpoint| checkpoint.seq <= *newest)
        } else {
            let is_known = |checkpoint: &FileCheckpoint| {
                let owner = checkpoint.record.header.owner;
                owner.is_some_and(|owner| owners.contains(&owner))
            };
            let last = flow.checkpoints.iter().rposition(is_known);
            last.map_or(0, |last| last + 1)
        };
        let checkpoints = &flow.checkpoints[..end];
        let Some(newest) = checkpoints.last() else {
            continue;
        };
        // Without sub-flows, nothing has an owner.
        let with_tasks = checkpoints.iter().filter(|_| thread.flows.len() > 1);
        for checkpoint in with_tasks {
            let header = &checkpoint.record.header;
            let id = |node: &str, send| thread.task_id(namespace, header, node, send).to_bytes();
            owners.extend(header.frontier.iter().map(|task| id(&task.node, task.send)));
            if namespace.is_empty() {
                let mut fork = header.clone();
                fork.origin = checkpoint.seq;
                owners.insert(thread.task_id("", &fork, "", None).to_bytes());
            }
        }
        let (oldest, oldest_write) = needed(namespace, newest);
        let begin = checkpoints.partition_point(|checkpoint| checkpoint.seq < oldest);
        let is_done = |write: &StoredWrite| write.contents() == Some(WriteName::Done);
        let writes = flow.writes.iter();
        let writes = writes.filter(|(at, _)| (oldest_write..=newest.seq).contains(at));
        let writes = writes.filter_map(|(at, write)| {
            let write = write.clone();
            let write = if is_done(&write) {
                adopt(namespace, write)
            } else {
                Some(write)
            };
            Some((*at, write?))
        });
        let kept = FileFlow {
            writes: writes.collect(),
            checkpoints: checkpoints[begin..].to_vec(),
        };
        before.flows.insert(namespace.clone(), kept);
    }
    if !thread.has_inbox() {
        return before;
    }
    let taken = taken_at(own, at.own.start.seq);
    let until = at
        .own
        .committed
        .map_or(taken, |committed| taken_at(own, committed.seq));
    before.set_messages(thread, until, taken);
    before
}
