//! An engine in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::state::Storable;
use petalflow::thread::{FollowedEvents, ThreadError};
use petalflow::{Flow, async_trait};
use petalflow_server::{RemoteThreads, ThreadWork};
use tokio::sync::{Mutex, watch};

/// An engine in this process: a map of records, and a task for each thread that runs.
pub(super) struct Engine<F: Flow> {
    flow: ThreadEngine<F>,
    threads: Arc<Mutex<BTreeMap<String, ThreadRecords>>>,
    /// Sent whenever a thread has changed.
    changed: watch::Sender<()>,
    /// The threads that were cancelled.
    pub(super) cancelled: Arc<Mutex<Vec<String>>>,
    /// Why threads have failed.
    failures: Arc<Mutex<BTreeMap<String, String>>>,
}

impl<F: Flow> Clone for Engine<F> {
    fn clone(&self) -> Self {
        Engine {
            flow: self.flow.clone(),
            threads: Arc::clone(&self.threads),
            changed: self.changed.clone(),
            cancelled: Arc::clone(&self.cancelled),
            failures: Arc::clone(&self.failures),
        }
    }
}

impl<F: Flow<State: Storable>> Engine<F> {
    pub(super) fn new(flow: ThreadEngine<F>) -> Self {
        Engine {
            flow,
            threads: Arc::default(),
            changed: watch::Sender::new(()),
            cancelled: Arc::default(),
            failures: Arc::default(),
        }
    }

    async fn records(&self, thread: &str) -> ThreadRecords {
        self.threads
            .lock()
            .await
            .get(thread)
            .cloned()
            .unwrap_or_default()
    }

    pub(super) async fn runs(&self, thread: &str) -> bool {
        let records = self.records(thread).await;
        !records.is_empty() && records.status().unwrap().0 == ThreadStatus::Running
    }

    async fn run(self, thread: String) {
        for superstep in 0.. {
            let mut records = self.records(&thread).await;
            let mut pass = self.flow.advance(&thread, records.clone(), superstep, []);
            let (mut goes_on, mut failure) = (false, None);
            while let Some(batch) = pass.next().await {
                records.apply(&batch.changes);
                if let Some(end) = batch.end {
                    goes_on = end.continues();
                    failure = end.failure;
                }
            }
            let end = self.flow.log_end(&thread, &records, 1, failure.as_deref());
            records.apply(&end.await.expect("the records are whole"));
            if let Some(failure) = failure {
                let mut failures = self.failures.lock().await;
                failures.insert(thread.clone(), failure);
            }
            self.threads.lock().await.insert(thread.clone(), records);
            self.changed.send_replace(());
            if !goes_on {
                return;
            }
        }
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> RemoteThreads<F> for Engine<F> {
    async fn read(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError> {
        let records = self.records(thread).await;
        let read = self
            .flow
            .edit(thread, &records, async |thread| work(thread).await);
        read.await
            .map(drop)
            .map_err(|error| StoreError::Other(error.into()).into())
    }

    async fn edit(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError> {
        if self.runs(thread).await {
            return Err(ThreadError::Busy {
                thread: thread.into(),
            });
        }
        let mut records = self.records(thread).await;
        let edited = self
            .flow
            .edit(thread, &records, async |thread| work(thread).await);
        let ((), changes) = edited.await.expect("the records are whole");
        if !changes.is_empty() {
            records.apply(&changes);
            self.threads.lock().await.insert(thread.into(), records);
            if self.runs(thread).await {
                tokio::spawn(self.clone().run(thread.into()));
            }
        }
        Ok(())
    }

    async fn make(
        &self,
        thread: &str,
        other: &str,
        work: ThreadWork<F>,
    ) -> Result<(), ThreadError> {
        let records = self.records(thread).await;
        let made = self
            .flow
            .make(thread, &records, other, async |thread| work(thread).await);
        let ((), made) = made.await.expect("the records are whole");
        if !made.is_empty() {
            self.threads.lock().await.insert(other.into(), made);
        }
        Ok(())
    }

    async fn wait(&self, thread: &str) -> Result<Option<String>, ThreadError> {
        let mut changed = self.changed.subscribe();
        while self.runs(thread).await {
            changed.changed().await.expect("the engine is here");
        }
        Ok(self.failures.lock().await.get(thread).cloned())
    }

    async fn cancel(&self, thread: &str) -> Result<(), ThreadError> {
        self.cancelled.lock().await.push(thread.into());
        Ok(())
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        self.threads.lock().await.remove(thread);
        Ok(())
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        let info = self.records(thread).await.info(thread);
        info.map_err(|error| StoreError::Other(error.into()).into())
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        let threads = self.threads.lock().await;
        let found = threads.iter().filter(|(id, _)| {
            id.starts_with(query.prefix) && query.after.is_none_or(|after| id.as_str() > after)
        });
        let found = found.filter_map(|(id, records)| records.info(id).ok().flatten());
        Ok(found.take(query.limit.unwrap_or(usize::MAX)).collect())
    }

    fn follow(&self, _: &str, _: u64) -> FollowedEvents {
        FollowedEvents::new(futures_util::stream::empty())
    }

    fn has_event_log(&self) -> bool {
        self.flow.has_event_log()
    }
}
