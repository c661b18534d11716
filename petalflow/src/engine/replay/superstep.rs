//! Resumes one superstep of a stored thread, without what is not named.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::compare::{self, Task};
use super::difference::{Difference, DifferenceKind};
use super::program::ProgramChanges;
use super::replayed::Replayed;
use super::slices::{Step, stored_before};
use crate::checkpoint::{Cause, Retention, Store, StoredWrite, ThreadStorage, WriteName};
use crate::durable::{adopted_result, read_checkpoint};
use crate::engine::erased::AnyEngine;
use crate::engine::pass::failure_of;
use crate::engine::pass_store::PassStore;
use crate::engine::record_store::RecordStore;
use crate::engine::records::ThreadRecords;
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::interrupt::AnyResume;
use crate::middleware::{AnyCall, AnyMiddleware, AnyNext};
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::thread_file::FileThread;

/// Which nodes run in a replay, by their current names.
pub(in crate::engine) type RunsNode = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Around all nodes: runs those that are named, and leaves the others.
struct RunNamed {
    runs: RunsNode,
    /// The tasks that would have run.
    left: Mutex<Vec<TaskId>>,
    ran: AtomicU64,
}

impl AnyMiddleware for RunNamed {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        if (self.runs)(call.scope.node()) {
            self.ran.fetch_add(1, Ordering::Relaxed);
            return next.run(call);
        }
        // Nothing under this lock can panic.
        let left = self.left.lock();
        left.unwrap_or_else(PoisonError::into_inner)
            .push(call.scope.task_id());
        Box::pin(crate::engine::placement::leave(call.scope))
    }
}

/// How a superstep was resumed.
struct Resumed {
    store: PassStore,
    error: Option<RunError>,
    left: HashSet<TaskId>,
    ran: u64,
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
    /// Replays one frontier. The storage has the whole thread.
    pub(super) async fn replay_superstep(
        &self,
        (thread, recorded): (&FileThread, &ThreadStorage),
        step: &Step<'_>,
        changes: &ProgramChanges,
        runs: &RunsNode,
        replayed: &mut Replayed,
    ) -> Result<(), ThreadError> {
        let header = &step.start.record.header;
        let at = (header.turn, header.superstep + 1);
        if step.committed.is_none() && !step.is_last {
            return Ok(());
        }
        let tasks = self.tasks(thread, step, runs);
        let lacks_result = |task: &&Task| task.result.is_none() && !task.runs;
        let is_complete = !tasks.iter().any(|task| lacks_result(&task));
        if step.committed.is_some() && !is_complete {
            replayed.without_results.push(at);
        }
        let compared = step.committed.filter(|_| is_complete);
        // Of a superstep that is not compared, only whether the program accepts it.
        let runs = match compared {
            Some(_) => Arc::clone(runs),
            None => Arc::new(|_: &str| false) as RunsNode,
        };
        let resumed = self.resume_step(thread, step, &tasks, runs).await?;
        replayed.ran += resumed.ran;
        if let Some(problem) = resumed.error.as_ref().and_then(refusal) {
            replayed.add(Difference {
                kind: DifferenceKind::Resume,
                superstep: Some(at),
                node: nodes(&tasks),
                name: format!("checkpoint {}", step.start.seq),
                expected: "resumes".into(),
                found: problem,
            });
            return Ok(());
        }
        let Some(committed) = compared else {
            return Ok(());
        };
        let store = Arc::new(resumed.store.clone());
        let found = storage(thread, store);
        let newest = found.history("", None, 1).await?;
        let header = found.records("", &newest).await?.pop();
        let is_committed = newest
            .first()
            .is_some_and(|newest| newest.seq > step.start.seq)
            && header.is_some_and(|record| record.header.cause == Cause::Superstep);
        if !is_committed {
            add_obstacles(&tasks, at, &resumed, changes, replayed);
            return Ok(());
        }
        replayed.supersteps += 1;
        let seq = newest.first().map_or(0, |newest| newest.seq);
        let flow = &*self.flow;
        let is = read_checkpoint(flow, &found, "", seq).await?;
        let was = match read_checkpoint(flow, recorded, "", committed.seq).await {
            Ok(was) => was,
            // The next step reports it.
            Err(ThreadError::Changed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (Some(was), Some(is)) = (was, is) else {
            return Ok(());
        };
        let written = found.writes("", step.start.record.header.origin).await?;
        let context = compare::Context {
            at,
            tasks: &tasks,
            nodes: nodes(&tasks),
            changes,
            removed: &thread.removed,
        };
        for difference in compare::differences(&context, (&was, &is), &written) {
            replayed.add(difference);
        }
        Ok(())
    }

    /// The tasks of a frontier with their recorded results.
    fn tasks(&self, thread: &FileThread, step: &Step<'_>, runs: &RunsNode) -> Vec<Task> {
        let header = &step.start.record.header;
        let plan = self.flow.plan();
        let own = thread.flows.get("");
        let writes = own.map_or(&[][..], |own| &own.writes);
        let task = |entry: &crate::checkpoint::TaskEntry| {
            let id = thread.task_id("", header, &entry.node, entry.send);
            let mut results = writes.iter();
            let result = results
                .find(|(at, write)| *at == header.origin && write.is(id, WriteName::Done))
                .map(|(_, write)| write.bytes.clone());
            Task {
                id,
                node: entry.node.clone(),
                index: entry.send,
                runs: runs(plan.current_name(&entry.node)),
                result,
            }
        };
        header.frontier.iter().map(task).collect()
    }

    async fn resume_step(
        &self,
        thread: &FileThread,
        step: &Step<'_>,
        tasks: &[Task],
        runs: RunsNode,
    ) -> Result<Resumed, ThreadError> {
        let run_again: HashSet<TaskId> = tasks
            .iter()
            .filter(|task| task.runs && runs(self.flow.plan().current_name(&task.node)))
            .map(|task| task.id)
            .collect();
        let before = stored_before(thread, step, |write| {
            let bytes = adopted_result(&*self.flow, &write.bytes);
            (!run_again.contains(&write.task)).then(|| StoredWrite {
                bytes: bytes.unwrap_or_else(|| write.bytes.clone()),
                ..write.clone()
            })
        });
        let records = records_of(&before).await?;
        let store = PassStore::of_replay(&thread.id, records)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let around = Arc::new(RunNamed {
            runs,
            left: Mutex::default(),
            ran: AtomicU64::new(0),
        });
        let settings = self.settings_after(0, Some(Arc::clone(&around) as _));
        let mut threads = self.threads(&store, settings);
        threads.retention = Retention::ALL.with_results();
        let ended = threads
            .thread(&thread.id)
            .resume(AnyResume::default())
            .await;
        let error = failure_of(ended);
        let left = around.left.lock();
        let left = left
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect();
        Ok(Resumed {
            store,
            error: error.filter(|error| !matches!(error.kind(), RunErrorKind::Drained { .. })),
            left,
            ran: around.ran.load(Ordering::Relaxed),
        })
    }
}

/// Why a superstep that was committed is not committed today.
fn add_obstacles(
    tasks: &[Task],
    at: (u64, u64),
    resumed: &Resumed,
    changes: &ProgramChanges,
    replayed: &mut Replayed,
) {
    let difference = |kind, node: &str, name: String, expected: &str, found: String| Difference {
        kind,
        superstep: Some(at),
        node: Some(node.into()),
        name,
        expected: expected.into(),
        found,
    };
    let names: BTreeMap<TaskId, &Task> = tasks.iter().map(|task| (task.id, task)).collect();
    let mut explained = false;
    for (task, effect) in resumed.store.refused_effects() {
        explained = true;
        let node = names.get(&task).map_or("a sub-flow", |task| &*task.node);
        let found = "an effect that was not recorded; it was not run".into();
        let kind = DifferenceKind::Effect;
        replayed.add(difference(kind, node, effect, "-", found));
    }
    for task in tasks.iter().filter(|task| resumed.left.contains(&task.id)) {
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
