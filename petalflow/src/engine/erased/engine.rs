//! A flow whose threads an engine keeps, without its types: the beginning of turns, and what changes a thread between passes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::{Retention, ThreadStatus};
use crate::durable::Command;
use crate::engine::pass::failure_of;
use crate::engine::pass_store::PassStore;
use crate::engine::record_changes::RecordChanges;
use crate::engine::records::ThreadRecords;
use crate::engine::records_error::RecordsError;
use crate::engine::stream::Publisher;
use crate::erased::InputBox;
use crate::exec::Settings;
use crate::flow::AnyFlow;
use crate::future::BoxFuture;
use crate::interrupt::AnyResume;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::run::AnyRun;
use crate::thread::{AnyThread, AnyThreads};

/// See [`ThreadEngine`](crate::engine::ThreadEngine).
#[derive(Clone)]
pub(in crate::engine) struct AnyEngine {
    pub(in crate::engine) flow: Arc<dyn AnyFlow>,
    pub(super) settings: Settings,
    /// The placed nodes, and the pool of each.
    pub(super) placed: Arc<BTreeMap<String, String>>,
    pub(in crate::engine) retention: Retention,
    /// How many events of a thread are logged at least.
    pub(in crate::engine) logs: Option<u64>,
    pub(in crate::engine) publisher: Option<Arc<Publisher>>,
    /// The name by which threads of other engines reach those of this one.
    pub(in crate::engine) name: Option<Arc<str>>,
}

impl std::fmt::Debug for AnyEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadEngine")
            .field("flow", &self.flow.name())
            .field("placed", &self.placed)
            .finish_non_exhaustive()
    }
}

impl AnyEngine {
    pub(in crate::engine) fn new(flow: Arc<dyn AnyFlow>, settings: Settings) -> Self {
        let plan = flow.plan();
        let nodes = plan.graph().nodes().iter().zip(&plan.policies);
        let placed = nodes
            .filter_map(|(node, policy)| Some((node.name.to_string(), policy.remote?.to_string())));
        AnyEngine {
            placed: Arc::new(placed.collect()),
            flow,
            settings,
            retention: Retention::ALL,
            logs: None,
            publisher: None,
            name: None,
        }
    }

    pub(in crate::engine) fn place(
        &mut self,
        node: String,
        pool: String,
    ) -> Result<(), ThreadError> {
        let plan = self.flow.plan();
        if plan.index_of(&node).is_none() {
            let nodes: Vec<&str> = plan
                .graph()
                .nodes()
                .iter()
                .map(|node| &*node.name)
                .collect();
            let nodes = nodes.join("`, `");
            return Err(ThreadError::Request(format!(
                "the node `{node}` cannot be placed, because the flow does not have it: its nodes are `{nodes}`; place a node inside a sub-flow with the node that runs the sub-flow"
            )));
        }
        Arc::make_mut(&mut self.placed).insert(node, pool);
        Ok(())
    }

    pub(in crate::engine) fn begin<'a>(
        &'a self,
        thread: &'a str,
        records: &'a ThreadRecords,
        input: InputBox,
    ) -> BoxFuture<'a, Result<RecordChanges, RunError>> {
        Box::pin(self.run_and_store(thread, records, |thread| {
            thread.run(Command::Input(input), false)
        }))
    }

    pub(in crate::engine) fn resume<'a>(
        &'a self,
        thread: &'a str,
        records: &'a ThreadRecords,
        with: AnyResume,
    ) -> BoxFuture<'a, Result<RecordChanges, RunError>> {
        Box::pin(self.run_and_store(thread, records, |thread| thread.resume(with)))
    }

    /// The changes of a run that stores what it begins with, and no more.
    async fn run_and_store(
        &self,
        thread: &str,
        records: &ThreadRecords,
        start: impl FnOnce(&AnyThread) -> AnyRun + Send,
    ) -> Result<RecordChanges, RunError> {
        let refused = |error| self.refused(error);
        let (store, thread) = self.edited(thread, records).map_err(refused)?;
        let failure = failure_of(start(&thread).await);
        let changes = self.changes(store).await.map_err(refused)?;
        match failure {
            Some(error)
                if !matches!(
                    error.kind(),
                    RunErrorKind::Drained { .. } | RunErrorKind::Rejected { .. }
                ) =>
            {
                Err(error)
            }
            _ => Ok(changes),
        }
    }

    fn refused(&self, error: RecordsError) -> RunError {
        let error = ThreadError::Request(error.to_string());
        RunError::of_thread(error, self.flow.name())
    }

    /// The thread, to read it, or to change it without running a node: a run ends when it has stored what it begins with.
    pub(in crate::engine) fn edited(
        &self,
        thread: &str,
        records: &ThreadRecords,
    ) -> Result<(PassStore, AnyThread), RecordsError> {
        let store = PassStore::new(thread, records.clone(), None)?;
        store.token().drain();
        let thread = self.unstarted(&store, thread);
        Ok((store, thread))
    }

    /// The thread over these records, which logs the runs that begin turns.
    pub(in crate::engine) fn unstarted(&self, store: &PassStore, thread: &str) -> AnyThread {
        let threads = self.threads(store, self.settings.clone());
        self.logging_start(threads).thread(thread)
    }

    /// What has changed since the thread was [opened](Self::edited).
    pub(in crate::engine) fn changes(
        &self,
        store: PassStore,
    ) -> BoxFuture<'_, Result<RecordChanges, RecordsError>> {
        Box::pin(async move {
            if store.records().status()?.0 == ThreadStatus::Stopped {
                let running = ThreadStatus::Running;
                store.set_status(self.flow.stored_name(), running).await?;
            }
            Ok(store.changes())
        })
    }

    pub(in crate::engine) fn threads(
        &self,
        store: &PassStore,
        mut settings: Settings,
    ) -> AnyThreads {
        settings.cancel = Some(store.token().into());
        let flow = Arc::clone(&self.flow);
        let mut threads = AnyThreads::new(flow, settings, Arc::new(store.clone()));
        threads.retention = self.retention;
        threads
    }
}
