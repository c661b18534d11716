//! Restores the sub-flows of a thread when the thread is forked or copied.
//!
//! Each checkpoint of a sub-flow names its owner: the task of the parent flow for which the sub-flow ran. A checkpoint of a
//! sub-flow belongs to the past of a checkpoint of the thread if its owner does. A fork appends a copy of the newest such
//! checkpoint, with the fork itself as its owner. Only stored records are used, because the types of sub-flows are not known
//! here.

use std::collections::{HashMap, HashSet};

use super::held::status_at;
use crate::checkpoint::{
    Cause, Header, Record, StoreChange, StoredCheckpoint, TaskEntry, ThreadStorage,
};
use crate::clock::now_ms;
use crate::durable::load::merged::{encode, merged};
use crate::outcome::ThreadError;

/// The number of checkpoints that are read at once.
const PAGE: usize = 100;

/// The checkpoints of sub-flows that are appended together with a fork.
///
/// Finds the checkpoints of the sub-flows of `from` at a checkpoint, for a fork of it in `to` that gets the number `fork`.
pub(in crate::durable) async fn restore_subflows(
    from: &ThreadStorage,
    checkpoint: u64,
    to: &ThreadStorage,
    fork: u64,
) -> Result<Vec<StoreChange>, ThreadError> {
    let mut namespaces = from.flows().await?;
    namespaces.retain(|namespace| !namespace.is_empty());
    // Sorted, so that a flow comes before its sub-flows.
    namespaces.sort_unstable();
    let mut copies = Vec::new();
    if namespaces.is_empty() {
        return Ok(copies);
    }
    let same_thread = from.thread == to.thread;
    let mut past = ForkHistory::of(from, checkpoint).await?;
    for namespace in namespaces {
        let history = headers(from, &namespace).await?;
        let newest_of_past = past.newest(from, &namespace, &history);
        let Some((newest, _)) = history.first() else {
            continue;
        };
        let begins_empty = newest_of_past.is_none();
        if begins_empty && !past.had_not_run(from, &namespace, &history)? {
            continue;
        }
        // It has this state already, or nothing has to be restored.
        if same_thread && newest_of_past == Some(*newest) || !same_thread && begins_empty {
            continue;
        }
        let seq = newest_of_past.unwrap_or(*newest);
        let after = same_thread.then_some(*newest);
        let seq_of_copy = after.map_or(0, |newest| newest + 1);
        let mut copy = self_contained(from, &namespace, seq).await?;
        copy.header.owner = Some(fork_of(to, fork));
        copy.header.incarnation = to.incarnation();
        copy.header.origin = seq_of_copy;
        copy.header.parent = same_thread.then_some(seq);
        if begins_empty {
            // No turn has begun, so the next one uses nothing of this checkpoint.
            copy.header.turn = 0;
            copy.header.superstep = 0;
        }
        copies.push(StoreChange::Append {
            after,
            settled: 0..0,
            checkpoint: StoredCheckpoint {
                seq: seq_of_copy,
                base: seq_of_copy,
                created_ms: now_ms(),
                bytes: encode(seq_of_copy, &copy),
            },
            namespace,
        });
    }
    Ok(copies)
}

/// Gives a thread that does not exist yet the labels of another one, such as the version of its document. They are written
/// before its checkpoints, so that the thread has them as soon as it exists.
pub(crate) async fn copy_labels(
    from: &ThreadStorage,
    to: &ThreadStorage,
) -> Result<(), ThreadError> {
    let labels = from.info().await?.map(|info| info.labels);
    match labels.filter(|labels| !labels.is_empty()) {
        Some(labels) => Ok(to.set_labels(&labels).await?),
        None => Ok(()),
    }
}

/// Copies all checkpoints of a thread to a thread that does not exist yet, in one step. A person holds the copy.
pub(crate) async fn copy(from: &ThreadStorage, to: &ThreadStorage) -> Result<(), ThreadError> {
    let mut namespaces = from.flows().await?;
    namespaces.sort_unstable();
    let mut newest = None;
    to.begin().await?;
    // The tasks of the copy, by the tasks of the thread.
    let mut tasks = HashMap::new();
    let mut changes = Vec::new();
    for namespace in namespaces {
        let mut checkpoints = from.history(&namespace, None, usize::MAX).await?;
        checkpoints.reverse();
        let records = from.records(&namespace, &checkpoints).await?;
        let mut after = None;
        for (mut checkpoint, mut record) in checkpoints.into_iter().zip(records) {
            let seq = checkpoint.seq;
            if namespace.is_empty() {
                tasks.insert(fork_of(from, seq), fork_of(to, seq));
            }
            let old = tasks_of(from, &namespace, &record.header);
            tasks.extend(old.zip(tasks_of(to, &namespace, &record.header)));
            let header = &mut record.header;
            let owner = header.owner.and_then(|owner| tasks.get(&owner).copied());
            // No task has started the copy.
            let was_started = namespace.is_empty() && header.owner.take().is_some();
            if owner.is_some() || was_started || header.incarnation != to.incarnation() {
                header.owner = owner.or(header.owner);
                header.incarnation = to.incarnation();
                checkpoint.bytes = encode(seq, &record);
            }
            changes.push(StoreChange::Append {
                namespace: namespace.clone(),
                checkpoint,
                after,
                settled: 0..0,
            });
            after = Some(seq);
            if namespace.is_empty() {
                newest = Some(record.header);
            }
        }
    }
    let Some(newest) = newest else {
        return Err(ThreadError::Unknown {
            thread: from.thread.to_string(),
        });
    };
    changes.push(status_at(&to.flow, &newest));
    let attributes = from.info().await?.map(|info| info.attributes);
    changes.extend(
        attributes
            .filter(|it| !it.is_empty())
            .map(StoreChange::Attributes),
    );
    Ok(to.apply(changes).await?)
}

/// The tasks and forks in the past of a checkpoint of the outermost flow.
struct ForkHistory {
    owners: HashSet<[u8; 16]>,
    /// All tasks and forks that are stored, in its past or not.
    known: HashSet<[u8; 16]>,
    /// The checkpoint.
    checkpoint: u64,
    /// Whether its past is stored completely.
    complete: bool,
}

impl ForkHistory {
    async fn of(storage: &ThreadStorage, checkpoint: u64) -> Result<Self, ThreadError> {
        let history = headers(storage, "").await?;
        let mut past = ForkHistory {
            owners: HashSet::new(),
            known: HashSet::new(),
            checkpoint,
            complete: true,
        };
        for (seq, header) in &history {
            past.known.insert(fork_of(storage, *seq));
            past.known.extend(tasks_of(storage, "", header));
        }
        let headers: HashMap<u64, &Header> =
            history.iter().map(|(seq, header)| (*seq, header)).collect();
        // The tasks of the checkpoint itself ran after it, also if an edit has created another checkpoint of the same tasks.
        let origin = headers.get(&checkpoint).map(|header| header.origin);
        let mut before = Some(checkpoint);
        while let Some(seq) = before {
            let Some(header) = headers.get(&seq) else {
                past.complete = false;
                break;
            };
            past.owners.insert(fork_of(storage, seq));
            if Some(header.origin) != origin {
                past.owners.extend(tasks_of(storage, "", header));
            }
            before = header.parent;
        }
        Ok(past)
    }

    /// The newest checkpoint of a sub-flow in the past. Adds the tasks of all its checkpoints in the past.
    fn newest(
        &mut self,
        storage: &ThreadStorage,
        namespace: &str,
        history: &[(u64, Header)],
    ) -> Option<u64> {
        let mut newest = None;
        for (seq, header) in history {
            let tasks = || tasks_of(storage, namespace, header);
            self.known.extend(tasks());
            if header
                .owner
                .is_some_and(|owner| self.owners.contains(&owner))
            {
                newest.get_or_insert(*seq);
                self.owners.extend(tasks());
            }
        }
        newest
    }

    /// Whether a sub-flow without a checkpoint in the past had not run yet. Otherwise its state of that time is not stored any
    /// more, which is an error if the sub-flow retains its state.
    fn had_not_run(
        &self,
        storage: &ThreadStorage,
        namespace: &str,
        history: &[(u64, Header)],
    ) -> Result<bool, ThreadError> {
        let unknown = |header: &Header| {
            let owner = header.owner.as_ref();
            owner.is_none_or(|owner| !self.known.contains(owner))
        };
        let retains_state = history.iter().any(|(_, header)| header.turn > 1);
        let pruned = history
            .last()
            .is_some_and(|(_, oldest)| oldest.turn > 1 && oldest.parent.is_some());
        let in_doubt =
            pruned || !self.complete && history.iter().any(|(_, header)| unknown(header));
        if in_doubt && retains_state {
            return Err(ThreadError::Request(format!(
                "the state of the sub-flow `{namespace}` at checkpoint {} of thread `{}` is not stored any more: fork from a newer \
                 checkpoint, and let `Retention` retain more checkpoints of threads that are forked",
                self.checkpoint, storage.thread
            )));
        }
        Ok(!in_doubt)
    }
}

/// The tasks of a checkpoint.
fn tasks_of(
    storage: &ThreadStorage,
    namespace: &str,
    header: &Header,
) -> impl Iterator<Item = [u8; 16]> {
    let task = |task: &TaskEntry| {
        let id = storage.task_id(namespace, header.origin, &task.node, task.send);
        id.to_bytes()
    };
    header.frontier.iter().map(task)
}

/// The owner of the checkpoints that a fork restores, in the form of a task: one of a node without a name.
fn fork_of(storage: &ThreadStorage, checkpoint: u64) -> [u8; 16] {
    storage.task_id("", checkpoint, "", None).to_bytes()
}

/// The headers of the checkpoints of a flow, newest first.
async fn headers(
    storage: &ThreadStorage,
    namespace: &str,
) -> Result<Vec<(u64, Header)>, ThreadError> {
    let mut headers = Vec::new();
    let mut before = None;
    loop {
        let page = storage.history(namespace, before, PAGE).await?;
        let Some(oldest) = page.last() else {
            return Ok(headers);
        };
        before = Some(oldest.seq);
        let records = storage.records(namespace, &page).await?;
        let found = page.iter().zip(records);
        headers.extend(found.map(|(checkpoint, record)| (checkpoint.seq, record.header)));
    }
}

/// A checkpoint combined with those that it builds on, so that it builds on no other. It has no tasks.
async fn self_contained(
    storage: &ThreadStorage,
    namespace: &str,
    seq: u64,
) -> Result<Record, ThreadError> {
    let mut record = merged(storage, namespace, seq).await?;
    let header = &mut record.header;
    header.cause = Cause::Fork;
    header.frontier.clear();
    header.deferred.clear();
    header.joins.clear();
    header.interrupt_points.clear();
    header.answers.clear();
    header.notes.clear();
    Ok(record)
}
