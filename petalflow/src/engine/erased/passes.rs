//! Passes over the records of a thread: one superstep, or one task of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::mpsc;

use super::AnyEngine;
use crate::checkpoint::{StoredCheckpoint, StoredWrite, ThreadStorage};
use crate::durable::{Fingerprint, has_result, reads_result, slice};
use crate::engine::batch::TaskRequest;
use crate::engine::law::Law;
use crate::engine::pass::{Pass, failure_of, settle};
use crate::engine::pass_store::PassStore;
use crate::engine::placement::{LeaveAll, LeavePlaced, RunOnly};
use crate::engine::records::ThreadRecords;
use crate::engine::stream::Role;
use crate::exec::Settings;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::interrupt::AnyResume;
use crate::middleware::AnyMiddleware;
use crate::outcome::RunErrorKind;
use crate::state::KeyFlag;

impl AnyEngine {
    pub(in crate::engine) fn advance(
        &self,
        thread: &str,
        records: ThreadRecords,
        used: u64,
        requested: HashSet<TaskId>,
    ) -> Pass {
        let waits = !requested.is_empty();
        let law = Law::Tasks { waits };
        self.superstep((thread, records, used), law, Some(requested))
    }

    pub(in crate::engine) fn commit(
        &self,
        thread: &str,
        records: ThreadRecords,
        used: u64,
    ) -> Pass {
        self.superstep((thread, records, used), Law::Commit, None)
    }

    fn superstep(
        &self,
        of: (&str, ThreadRecords, u64),
        law: Law,
        requested: Option<HashSet<TaskId>>,
    ) -> Pass {
        let placed = Arc::clone(&self.placed);
        self.pass(of, law, move |store| {
            (!placed.is_empty()).then(|| {
                Arc::new(LeavePlaced {
                    placed,
                    requested,
                    store: store.clone(),
                }) as _
            })
        })
    }

    pub(in crate::engine) fn run_task(
        &self,
        thread: &str,
        records: ThreadRecords,
        used: u64,
        task: TaskId,
    ) -> Pass {
        self.pass((thread, records, used), Law::Task(task), move |store| {
            let store = store.clone();
            Some(Arc::new(RunOnly { task, store }) as _)
        })
    }

    fn pass(
        &self,
        (thread, records, used): (&str, ThreadRecords, u64),
        law: Law,
        outermost: impl FnOnce(&PassStore) -> Option<Arc<dyn AnyMiddleware>> + Send + 'static,
    ) -> Pass {
        let (sender, batches) = mpsc::unbounded_channel();
        let (engine, thread, to) = (self.clone(), thread.to_string(), sender.clone());
        let task = match law {
            Law::Task(task) => Some(task),
            Law::Tasks { .. } | Law::Commit => None,
        };
        let heartbeats = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&heartbeats);
        let events = self.pass_events(&thread, &records, used, task);
        let role = Role::of(task, &self.placed);
        let prepared = async move {
            let store = PassStore::of_pass(&thread, records, to, counted, engine.name.clone())?;
            if let Some(task) = task
                && engine.has_result(&thread, &store, task).await
            {
                // A run over these records could commit the superstep.
                return Ok(None);
            }
            let settings = engine.settings_after(used, outermost(&store));
            let threads = engine.logging_part(engine.threads(&store, settings), role);
            let mut run = threads.thread(&thread).resume(AnyResume::default());
            if let Some(events) = events {
                run = run.send_events_to(events);
            }
            Ok(Some((store, run)))
        };
        Pass::start(
            self.flow.stored_name().into(),
            law,
            heartbeats,
            prepared,
            self.publisher.clone(),
            sender,
            batches,
        )
    }

    /// Whether the task has a result that this program can read. What cannot be read at all is an error of the run.
    async fn has_result(&self, thread: &str, store: &PassStore, task: TaskId) -> bool {
        let name = self.flow.stored_name().into();
        let storage = ThreadStorage::new(Arc::new(store.clone()), thread.into(), name);
        has_result(&*self.flow, &storage, task)
            .await
            .unwrap_or(false)
    }

    pub(in crate::engine) fn requests<'a>(
        &'a self,
        thread: &'a str,
        records: &'a ThreadRecords,
        used: u64,
    ) -> BoxFuture<'a, Option<Vec<TaskRequest>>> {
        Box::pin(async move {
            if self.placed.is_empty() || self.has_cache() {
                return None;
            }
            let store = PassStore::new(thread, records.clone(), None).ok()?;
            let has_others = Arc::new(AtomicBool::new(false));
            let outermost = LeaveAll {
                placed: Arc::clone(&self.placed),
                store: store.clone(),
                has_others: Arc::clone(&has_others),
            };
            let settings = self.settings_after(used, Some(Arc::new(outermost)));
            let thread = self.threads(&store, settings).thread(thread);
            let error = failure_of(thread.resume(AnyResume::default()).await)?;
            let drained = matches!(error.kind(), RunErrorKind::Drained { .. });
            settle(&store, self.flow.stored_name(), Some(error))
                .await
                .ok()?;
            let batch = store.batch(None);
            let only = drained && batch.changes.is_empty() && !has_others.load(Ordering::Relaxed);
            (only && !batch.requests.is_empty()).then_some(batch.requests)
        })
    }

    pub(in crate::engine) fn records_for(
        &self,
        records: &ThreadRecords,
        request: &TaskRequest,
    ) -> ThreadRecords {
        let mut needed = records.for_task(request.task);
        if let Some((key, result)) = needed.result_of(request.task)
            && !self.reads_result(&needed, request, &result)
        {
            needed.set(key, None);
        }
        match self.slice(&needed, &request.node) {
            Some(checkpoint) => needed.with_checkpoint(&checkpoint),
            None => needed,
        }
    }

    /// Whether this program can use the result of a task.
    fn reads_result(
        &self,
        records: &ThreadRecords,
        request: &TaskRequest,
        result: &StoredWrite,
    ) -> bool {
        let chain = records.chain();
        chain.is_ok_and(|chain| reads_result(&*self.flow, &chain, &request.node, result))
    }

    /// The newest checkpoint with the keys that the node needs.
    fn slice(&self, records: &ThreadRecords, node: &str) -> Option<StoredCheckpoint> {
        let plan = self.flow.plan();
        if self.has_middleware() || !plan.interrupt_points.is_empty() {
            return None;
        }
        let reads = plan.reads(plan.index_of(node)?)?;
        let state = self.flow.state_type();
        let keys = state.keys.iter().enumerate();
        let needed =
            keys.filter(|(index, key)| reads.contains(*index) || key.has(KeyFlag::Required));
        let needed: Vec<&str> = needed.map(|(_, key)| key.id).collect();
        let program = Fingerprint::of(state, self.flow.stored_name(), &plan);
        slice(&records.chain().ok()?, &program, &needed)
    }

    fn has_cache(&self) -> bool {
        let extras = self.settings.extras.as_ref();
        extras.is_some_and(|extras| extras.find_cached.is_some())
    }

    fn has_middleware(&self) -> bool {
        let extras = self.settings.extras.as_ref();
        extras.is_some_and(|extras| !extras.middleware.is_empty())
    }

    /// The settings for the rest of a run that has made so many supersteps, with this middleware around all other.
    pub(in crate::engine) fn settings_after(
        &self,
        supersteps: u64,
        outermost: Option<Arc<dyn AnyMiddleware>>,
    ) -> Settings {
        let mut settings = self.settings.clone();
        settings.limit = settings.limit.saturating_sub(supersteps);
        if let Some(outermost) = outermost {
            settings.extras_mut().middleware.insert(0, outermost);
        }
        settings
    }
}
