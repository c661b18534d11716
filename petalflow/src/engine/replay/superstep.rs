//! Resumes one superstep of a stored thread, without what is not named.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::compare::{self, Task};
use super::difference::{Difference, DifferenceKind};
use super::located::Located;
use super::program::{self, ProgramChanges};
use super::replay_run::Replay;
use super::requests::{self, RequestsEnd};
use super::slices::stored_before;
use crate::checkpoint::{
    Cause, Retention, Store, StoredWrite, TaskEntry, ThreadStorage, WriteName,
};
use crate::durable::{ReadCheckpoint, adopted_result, read_checkpoint, read_untyped};
use crate::engine::erased::AnyEngine;
use crate::engine::pass::failure_of;
use crate::engine::pass_store::PassStore;
use crate::engine::record_store::RecordStore;
use crate::engine::records::ThreadRecords;
use crate::engine::replay_tasks::ReplayTasks;
use crate::ids::TaskId;
use crate::interrupt::AnyResume;
use crate::middleware::LeaveOthers;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::thread_file::FileThread;

/// How a superstep was resumed.
struct Resumed {
    store: PassStore,
    error: Option<RunError>,
}

impl Resumed {
    fn left(&self) -> HashSet<TaskId> {
        self.store
            .replay()
            .map(ReplayTasks::left)
            .unwrap_or_default()
    }

    fn requests(&self) -> HashMap<TaskId, Vec<(u32, Vec<u8>)>> {
        let replay = self.store.replay();
        replay.map(ReplayTasks::requests).unwrap_or_default()
    }
}

/// A checkpoint as the program of today has committed it, and as it was stored.
struct Compared {
    was: ReadCheckpoint,
    is: ReadCheckpoint,
}

/// The records of a thread of a file, as an engine has them.
pub(super) async fn records_of(thread: &FileThread) -> Result<ThreadRecords, ThreadError> {
    let store = Arc::new(RecordStore::new(&thread.id, ThreadRecords::default()));
    storage(thread, Arc::clone(&store) as _)
        .apply(thread.changes())
        .await?;
    Ok(store.records(&thread.id))
}

pub(super) fn storage(thread: &FileThread, store: Arc<dyn Store>) -> ThreadStorage {
    ThreadStorage::new(store, (&*thread.id).into(), (&*thread.flow).into())
}

impl AnyEngine {
    /// Replays one frontier.
    pub(super) async fn replay_superstep(
        &self,
        replay: &mut Replay<'_>,
        at: &Located<'_>,
    ) -> Result<(), ThreadError> {
        let step = at.step;
        let header = &step.start.record.header;
        let number = (header.turn, header.superstep + 1);
        if step.committed.is_none() && !step.is_last {
            return Ok(());
        }
        let tasks = self.tasks(replay, at);
        let is_complete = tasks.iter().all(|task| task.result.is_some() || task.runs);
        // Of a superstep that is not compared, only whether the program accepts it.
        let compared = step.committed.filter(|_| is_complete);
        let ids = |chosen: fn(&&Task) -> bool| tasks.iter().filter(chosen).map(|task| task.id);
        let runs: HashSet<TaskId> = match compared {
            Some(_) => ids(|task| task.runs).collect(),
            None => HashSet::new(),
        };
        let resumed = self.resume_step(replay, at, runs, HashSet::new()).await?;
        if at.entered.iter().any(|task| resumed.left().contains(task)) {
            // A node that runs its sub-flow itself was not named.
            return Ok(());
        }
        if step.committed.is_some() && !is_complete {
            replay.replayed.without_results.push(number);
        }
        replay.replayed.ran += resumed.store.replay().map_or(0, ReplayTasks::ran);
        let of_superstep = |kind, name: String, expected: &str, found: String| Difference {
            kind,
            flow: at.namespace.into(),
            superstep: Some(number),
            node: nodes(&tasks),
            name,
            expected: expected.into(),
            found,
        };
        if let Some(problem) = resumed.error.as_ref().and_then(refusal) {
            let name = format!("checkpoint {}", step.start.seq);
            let kind = DifferenceKind::Resume;
            replay
                .replayed
                .add(of_superstep(kind, name, "resumes", problem));
            return Ok(());
        }
        let Some(committed) = compared else {
            return Ok(());
        };
        let found = storage(replay.thread, Arc::new(resumed.store.clone()));
        let newest = committed_after(&found, at).await?;
        let of_program = at.program();
        let Some(newest) = newest else {
            let changes = replay.changes.get(&of_program);
            let changes = changes.cloned().unwrap_or_default();
            add_obstacles(&tasks, at, number, &resumed, &changes, replay);
            return Ok(());
        };
        replay.replayed.supersteps += 1;
        let Some(Compared { was, is }) = self
            .read(replay, at, &found, (committed.seq, newest))
            .await?
        else {
            // The next step reports that it cannot be read.
            return Ok(());
        };
        let written = found.writes(at.namespace, header.origin).await?;
        let changes = replay.changes.get(&of_program);
        let changes = changes.cloned().unwrap_or_default();
        let context = compare::Context {
            flow: at.namespace,
            at: number,
            tasks: &tasks,
            nodes: nodes(&tasks),
            changes: &changes,
            removed: &replay.thread.removed,
        };
        for difference in compare::differences(&context, (&was, &is), &written) {
            replay.replayed.add(difference);
        }
        let made = resumed.requests();
        for task in tasks.iter().filter(|task| task.runs) {
            let made = made.get(&task.id).map(Vec::as_slice).unwrap_or_default();
            let end = RequestsEnd::Task;
            requests::compare(&context, task, made, &end, &mut replay.replayed);
        }
        self.replay_requests(replay, at, &context).await
    }

    /// Runs the tasks that have asked a model as far as their requests, and compares those.
    async fn replay_requests(
        &self,
        replay: &mut Replay<'_>,
        at: &Located<'_>,
        context: &compare::Context<'_>,
    ) -> Result<(), ThreadError> {
        if !replay.requests {
            return Ok(());
        }
        let tasks = context.tasks.iter().filter(|task| !task.runs);
        let asking = tasks.filter(|task| replay.asking.contains(&at.path(&task.node)));
        let asking: Vec<&Task> = asking.collect();
        if asking.is_empty() {
            return Ok(());
        }
        let prepared = asking.iter().map(|task| task.id).collect();
        let resumed = self
            .resume_step(replay, at, HashSet::new(), prepared)
            .await?;
        let made = resumed.requests();
        let refused = resumed.store.replay().map(ReplayTasks::refused_effects);
        let refused = refused.unwrap_or_default();
        let found = storage(replay.thread, Arc::new(resumed.store.clone()));
        let origin = at.step.start.record.header.origin;
        let written = found.writes(at.namespace, origin).await?;
        for task in &asking {
            let made = made.get(&task.id).map(Vec::as_slice).unwrap_or_default();
            let has_ended = written
                .iter()
                .any(|write| write.is(task.id, WriteName::Done));
            let effect = refused.iter().find(|(id, _)| *id == task.id);
            let end = match (effect, &resumed.error) {
                (Some((_, effect)), _) => {
                    RequestsEnd::Before(format!("the effect `{effect}` was not recorded"))
                }
                (None, _) if has_ended => RequestsEnd::Task,
                (None, Some(error)) if made.is_empty() || asking.len() == 1 => {
                    RequestsEnd::Before(error.to_string())
                }
                (None, _) if made.is_empty() => RequestsEnd::Task,
                (None, _) => RequestsEnd::Request,
            };
            requests::compare(context, task, made, &end, &mut replay.replayed);
        }
        Ok(())
    }

    /// The checkpoint that was stored and the one that was committed. For a sub-flow, compares its program with the one that stored it,
    /// too. `None` if this program cannot read what was stored.
    async fn read(
        &self,
        replay: &mut Replay<'_>,
        at: &Located<'_>,
        found: &ThreadStorage,
        (was, is): (u64, u64),
    ) -> Result<Option<Compared>, ThreadError> {
        if !at.namespace.is_empty() {
            let was = read_untyped(&replay.recorded, at.namespace, was).await?;
            let is = read_untyped(found, at.namespace, is).await?;
            let (Some((was, outline)), Some((is, today))) = (was, is) else {
                return Ok(None);
            };
            let changes = program::changes(&outline, &today);
            replay.changes.entry(at.program()).or_insert(changes);
            return Ok(Some(Compared { was, is }));
        }
        let flow = &*self.flow;
        let is = read_checkpoint(flow, found, "", is).await?;
        let was = match read_checkpoint(flow, &replay.recorded, "", was).await {
            Ok(was) => was,
            Err(ThreadError::Changed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(was.zip(is).map(|(was, is)| Compared { was, is }))
    }

    /// The tasks of a frontier with what they have recorded.
    pub(super) fn tasks(&self, replay: &Replay<'_>, at: &Located<'_>) -> Vec<Task> {
        let thread = replay.thread;
        let header = &at.step.start.record.header;
        let plan = self.flow.plan();
        let own = thread.flows.get(at.namespace);
        let writes = own.map_or(&[][..], |own| &own.writes);
        let task = |entry: &TaskEntry| {
            let id = thread.task_id(at.namespace, header, &entry.node, entry.send);
            let records = writes.iter();
            let records = records.filter(|(seq, write)| *seq == header.origin && write.task == id);
            let records: Vec<&StoredWrite> = records.map(|(_, write)| write).collect();
            let result = records
                .iter()
                .find(|write| write.contents() == Some(WriteName::Done))
                .map(|write| write.bytes.clone());
            // The current names of the nodes of a sub-flow are not known here.
            let name = match at.namespace {
                "" => plan.current_name(&entry.node),
                _ => &entry.node,
            };
            Task {
                id,
                node: entry.node.clone(),
                index: entry.send,
                runs: (replay.runs)(&at.path(name)),
                result,
                requests: requests::recorded(records),
            }
        };
        header.frontier.iter().map(task).collect()
    }

    /// Resumes the thread from a frontier, without the results of these tasks.
    async fn resume_step(
        &self,
        replay: &Replay<'_>,
        at: &Located<'_>,
        runs: HashSet<TaskId>,
        prepared: HashSet<TaskId>,
    ) -> Result<Resumed, ThreadError> {
        let thread = replay.thread;
        let entered: HashSet<TaskId> = at.entered.iter().copied().collect();
        let run_again = |task| {
            let sets = [&runs, &prepared, &entered];
            sets.iter().any(|tasks| tasks.contains(&task))
        };
        let before = stored_before(thread, at, |namespace, write| {
            if run_again(write.task) {
                return None;
            }
            let adopted = match namespace {
                "" => adopted_result(&*self.flow, &write.bytes),
                _ => None,
            };
            let bytes = adopted.unwrap_or_else(|| write.bytes.clone());
            Some(StoredWrite { bytes, ..write })
        });
        let records = records_of(&before).await?;
        let asking = self.tasks(replay, at).into_iter();
        let recorded = asking
            .filter(|task| runs.contains(&task.id) || prepared.contains(&task.id))
            .map(|task| (task.id, requests::given(&task.requests)))
            .collect();
        let tasks = ReplayTasks {
            runs,
            prepared,
            recorded,
            entered,
            enters_nodes: replay.requests,
            ..ReplayTasks::default()
        };
        let store = PassStore::of_replay(&thread.id, records, tasks)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let settings = self.settings_after(0, Some(Arc::new(LeaveOthers)));
        let mut threads = self.threads(&store, settings);
        threads.retention = Retention::ALL.with_results();
        let ended = threads
            .thread(&thread.id)
            .resume(AnyResume::default())
            .await;
        let error = failure_of(ended);
        Ok(Resumed {
            store,
            error: error.filter(|error| !matches!(error.kind(), RunErrorKind::Drained { .. })),
        })
    }
}

/// The checkpoint with which a run has committed a frontier.
async fn committed_after(
    found: &ThreadStorage,
    at: &Located<'_>,
) -> Result<Option<u64>, ThreadError> {
    let stored = found.history(at.namespace, None, usize::MAX).await?;
    let records = found.records(at.namespace, &stored).await?;
    let start = at.step.start.seq;
    let committed = stored.iter().zip(records).find(|(stored, record)| {
        let header = &record.header;
        stored.seq > start && header.parent == Some(start) && header.cause == Cause::Superstep
    });
    Ok(committed.map(|(stored, _)| stored.seq))
}

/// Why a superstep that was committed is not committed today.
fn add_obstacles(
    tasks: &[Task],
    at: &Located<'_>,
    number: (u64, u64),
    resumed: &Resumed,
    changes: &ProgramChanges,
    replay: &mut Replay<'_>,
) {
    let difference = |kind, node: &str, name: String, expected: &str, found: String| Difference {
        kind,
        flow: at.namespace.into(),
        superstep: Some(number),
        node: Some(node.into()),
        name,
        expected: expected.into(),
        found,
    };
    let replayed = &mut replay.replayed;
    let names: BTreeMap<TaskId, &Task> = tasks.iter().map(|task| (task.id, task)).collect();
    let mut explained = false;
    let refused = resumed.store.replay().map(ReplayTasks::refused_effects);
    for (task, effect) in refused.unwrap_or_default() {
        explained = true;
        let node = names.get(&task).map_or("a sub-flow", |task| &*task.node);
        let found = "an effect that was not recorded; it was not run".into();
        let kind = DifferenceKind::Effect;
        replayed.add(difference(kind, node, effect, "-", found));
    }
    let left = resumed.left();
    for task in tasks.iter().filter(|task| left.contains(&task.id)) {
        explained = true;
        if !task.is_explained_by(changes) {
            let found = "the program cannot use it: its routes, keys or items have changed";
            let (kind, expected) = (DifferenceKind::Result, "the recorded result");
            replayed.add(difference(
                kind,
                &task.node,
                String::new(),
                expected,
                found.into(),
            ));
        }
    }
    if explained {
        return;
    }
    let node = nodes(tasks).unwrap_or_default();
    let (kind, found) = match &resumed.error {
        Some(error) => (DifferenceKind::Failure, error.to_string()),
        None => (
            DifferenceKind::Wait,
            "it asks, sleeps or waits, which was not recorded".into(),
        ),
    };
    replayed.add(difference(kind, &node, String::new(), "a result", found));
}

/// The nodes of the tasks.
fn nodes(tasks: &[Task]) -> Option<String> {
    let mut nodes: Vec<&str> = tasks.iter().map(|task| &*task.node).collect();
    nodes.dedup();
    (!nodes.is_empty()).then(|| nodes.join(", "))
}

/// Why the thread could not be resumed.
fn refusal(error: &RunError) -> Option<String> {
    if !matches!(error.kind(), RunErrorKind::Thread { .. }) {
        return None;
    }
    Some(match error.thread_error() {
        Some(ThreadError::Changed { problem, .. }) => problem.clone(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    })
}
