//! Runs a stored thread on from one of its supersteps, with some nodes that really run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::located::Located;
use super::replay_run::RunsNode;
use super::slices::stored_before;
use super::steps::{Step, steps};
use super::superstep::{records_of, storage};
use crate::checkpoint::{Retention, StoredWrite, TaskEntry, ThreadStorage, WriteName};
use crate::durable::adopted_result;
use crate::engine::erased::AnyEngine;
use crate::engine::pass::failure_of;
use crate::engine::pass_store::PassStore;
use crate::engine::record_store::RecordStore;
use crate::engine::records::ThreadRecords;
use crate::engine::replay_tasks::ReplayTasks;
use crate::interrupt::AnyResume;
use crate::middleware::LeaveOthers;
use crate::outcome::{RunErrorKind, ThreadError};
use crate::thread::ThreadFile;
use crate::thread_file::{FileFlow, FileThread};

/// A stored thread that ran on from one of its supersteps. Made by [`ThreadEngine::replay_from`](crate::engine::ThreadEngine::replay_from),
/// which has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContinuedReplay {
    /// The thread at the end of the turn, as it was stored.
    pub recorded: ThreadRecords,
    /// The thread after the supersteps that ran on.
    pub found: ThreadRecords,
    /// How many tasks ran. All others gave their recorded results.
    pub ran: u64,
    /// How many supersteps were committed.
    pub supersteps: u64,
    /// Why the turn did not end: a node was to run that was not named, or it waits, or it has failed.
    pub stopped: Option<String>,
}

impl AnyEngine {
    /// Runs a thread on from the superstep with this number of this turn.
    pub(in crate::engine) async fn replay_from(
        &self,
        file: &ThreadFile,
        (turn, superstep): (u64, u64),
        runs: RunsNode,
    ) -> Result<ContinuedReplay, ThreadError> {
        let thread = file.model();
        let refused = |text: String| Err(ThreadError::Request(text));
        if thread.flow != self.flow.stored_name() {
            let (was, is) = (&thread.flow, self.flow.stored_name());
            return refused(format!(
                "the thread is of the flow `{was}`, and this is `{is}`"
            ));
        }
        let Some(own) = thread.flows.get("") else {
            return refused(format!(
                "the file of thread `{}` has no checkpoint",
                thread.id
            ));
        };
        let of_turn = steps(own).into_iter();
        let of_turn = of_turn.filter(|step| step.start.record.header.turn == turn);
        let of_turn: Vec<Step<'_>> = of_turn.collect();
        let number = |step: &Step<'_>| step.start.record.header.superstep + 1;
        let start = of_turn.iter().find(|step| number(step) == superstep);
        let (Some(start), Some(end)) = (start, of_turn.last()) else {
            let known: BTreeSet<String> = of_turn.iter().map(|it| number(it).to_string()).collect();
            let known = Vec::from_iter(known).join(", ");
            return refused(format!(
                "thread `{}` has no superstep {superstep} of turn {turn}: those of this turn in its file are `{known}`",
                thread.id
            ));
        };
        let plan = self.flow.plan();
        let is_named = |node: &str| runs(plan.current_name(node));
        let recorded = stored_before(thread, &Located::of_own(*end), |_, write| Some(write));
        let header = &start.start.record.header;
        let named = header.frontier.iter().filter(|task| is_named(&task.node));
        let named: BTreeSet<_> = named
            .map(|task| thread.task_id("", header, &task.node, task.send))
            .collect();
        let before = stored_before(thread, &Located::of_own(*start), |namespace, write| {
            let runs_again = matches!(
                write.contents(),
                Some(
                    WriteName::Done
                        | WriteName::Once(_)
                        | WriteName::Unfinished(_)
                        | WriteName::Request(_)
                )
            );
            if runs_again && named.contains(&write.task) {
                return None;
            }
            Some(self.adopted(namespace, write))
        });
        let mut continued = ContinuedReplay {
            recorded: records_of(&recorded).await?,
            found: records_of(&before).await?,
            ran: 0,
            supersteps: 0,
            stopped: None,
        };
        while self.run_on(thread, own, &runs, &mut continued).await? {}
        Ok(continued)
    }

    /// The record of a result as this program reads it.
    fn adopted(&self, namespace: &str, write: StoredWrite) -> StoredWrite {
        if !namespace.is_empty() {
            return write;
        }
        match adopted_result(&*self.flow, &write.bytes) {
            Some(bytes) => StoredWrite { bytes, ..write },
            None => write,
        }
    }

    /// Runs one superstep. Returns whether another one follows.
    async fn run_on(
        &self,
        thread: &FileThread,
        own: &FileFlow,
        runs: &RunsNode,
        continued: &mut ContinuedReplay,
    ) -> Result<bool, ThreadError> {
        let tasks = ReplayTasks {
            named: Some(Arc::clone(runs)),
            ..ReplayTasks::default()
        };
        let store = PassStore::of_replay(&thread.id, continued.found.clone(), tasks)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let settings = self.settings_after(continued.supersteps, Some(Arc::new(LeaveOthers)));
        let mut threads = self.threads(&store, settings);
        threads.retention = Retention::ALL.with_results();
        let before = newest(&storage(thread, Arc::new(store.clone()))).await?;
        let ended = threads
            .thread(&thread.id)
            .resume(AnyResume::default())
            .await;
        let failure = failure_of(ended);
        let error = failure.filter(|error| !matches!(error.kind(), RunErrorKind::Drained { .. }));
        let found = storage(thread, Arc::new(store.clone()));
        let after = newest(&found).await?;
        continued.found = store.records();
        continued.ran += store.replay().map_or(0, ReplayTasks::ran);
        let left = store.replay().map(ReplayTasks::left_nodes);
        let left = left.unwrap_or_default();
        if before.seq == after.seq {
            continued.stopped = Some(match (error, left.is_empty()) {
                (Some(error), true) => error.to_string(),
                (_, false) => format!(
                    "`{}` was to run and was not named, and its recorded result is not of the same task",
                    Vec::from_iter(left).join("`, `")
                ),
                (None, true) => "it asks, sleeps or waits".into(),
            });
            return Ok(false);
        }
        continued.supersteps += 1;
        if after.frontier.is_empty() {
            return Ok(false);
        }
        let recorded = self.recorded_results(thread, own, runs, &after);
        if !recorded.is_empty() {
            let records = std::mem::take(&mut continued.found);
            let store = Arc::new(RecordStore::new(&thread.id, records));
            storage(thread, Arc::clone(&store) as _)
                .write("", after.origin, recorded)
                .await?;
            continued.found = store.records(&thread.id);
        }
        Ok(true)
    }

    /// The recorded results of those tasks of a frontier that are not named, and that the thread had at this place, with the same items.
    fn recorded_results(
        &self,
        thread: &FileThread,
        own: &FileFlow,
        runs: &RunsNode,
        after: &Newest,
    ) -> Vec<StoredWrite> {
        let plan = self.flow.plan();
        let at = |checkpoint: &&crate::thread_file::FileCheckpoint| {
            checkpoint.record.header.origin == after.origin
        };
        let Some(recorded) = own.checkpoints.iter().find(at) else {
            return Vec::new();
        };
        let header = &recorded.record.header;
        let had: BTreeMap<_, _> = header
            .frontier
            .iter()
            .map(|task| ((&*task.node, task.send), &task.item))
            .collect();
        let unnamed = after.frontier.iter();
        let unnamed = unnamed.filter(|task| !runs(plan.current_name(&task.node)));
        let same = unnamed.filter(|task| had.get(&(&*task.node, task.send)) == Some(&&task.item));
        let results = same.filter_map(|task| {
            let id = thread.task_id("", header, &task.node, task.send);
            let mut writes = own.writes.iter();
            let result = writes
                .find(|(seq, write)| *seq == after.origin && write.is(id, WriteName::Done))?;
            Some(self.adopted("", result.1.clone()))
        });
        results.collect()
    }
}

/// The newest checkpoint of the thread's own flow.
struct Newest {
    seq: u64,
    origin: u64,
    frontier: Vec<TaskEntry>,
}

async fn newest(storage: &ThreadStorage) -> Result<Newest, ThreadError> {
    let stored = storage.history("", None, 1).await?;
    let record = storage.records("", &stored).await?.pop();
    let header = record.map(|record| record.header).unwrap_or_default();
    Ok(Newest {
        seq: stored.first().map_or(0, |newest| newest.seq),
        origin: header.origin,
        frontier: header.frontier,
    })
}
