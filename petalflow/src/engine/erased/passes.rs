//! Passes over the records of a thread: one superstep, or one task of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use super::AnyEngine;
use crate::checkpoint::{StoredCheckpoint, ThreadStorage};
use crate::durable::{Fingerprint, has_result, slice};
use crate::engine::batch::TaskRequest;
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
        let placed = Arc::clone(&self.placed);
        self.pass(thread, records, used, None, move |store| {
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
        self.pass(thread, records, used, Some(task), move |_| {
            Some(Arc::new(RunOnly(task)) as _)
        })
    }

    fn pass(
        &self,
        thread: &str,
        records: ThreadRecords,
        used: u64,
        task: Option<TaskId>,
        outermost: impl FnOnce(&PassStore) -> Option<Arc<dyn AnyMiddleware>> + Send + 'static,
    ) -> Pass {
        let (sender, batches) = mpsc::unbounded_channel();
        let (engine, thread, to) = (self.clone(), thread.to_string(), sender.clone());
        let events = self.pass_events(&thread, &records, used, task);
        let role = Role::of(task, &self.placed);
        let prepared = async move {
            let store = PassStore::new(&thread, records, Some(to))?;
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
        let needed = records.for_task(request.task);
        match self.slice(&needed, &request.node) {
            Some(checkpoint) => needed.with_checkpoint(&checkpoint),
            None => needed,
        }
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
    fn settings_after(
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
