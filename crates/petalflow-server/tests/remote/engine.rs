//! An engine in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::state::Storable;
use petalflow::thread::{FollowedEvents, ThreadError};
use petalflow::{Flow, async_trait};
use petalflow_server::{RemoteThreads, RemoteTrouble, ThreadWork};
use serde_json::Value;
use tokio::sync::{Mutex, watch};
use tokio::task::AbortHandle;

/// What a thread that runs was told: it does so at its next barrier.
#[derive(Default)]
struct Told {
    holds: bool,
    messages: Vec<(String, Value, Option<String>)>,
}

/// An engine in this process: a map of records, and a task for each thread that runs.
pub(crate) struct Engine<F: Flow> {
    flow: ThreadEngine<F>,
    threads: Arc<Mutex<BTreeMap<String, ThreadRecords>>>,
    /// Sent whenever a thread has changed.
    changed: watch::Sender<()>,
    /// The threads that were cancelled.
    pub(super) cancelled: Arc<Mutex<Vec<String>>>,
    /// Why threads have failed.
    failures: Arc<Mutex<BTreeMap<String, String>>>,
    runs: Arc<Mutex<BTreeMap<String, AbortHandle>>>,
    told: Arc<Mutex<BTreeMap<String, Told>>>,
    /// Why threads do not go on.
    pub(super) troubles: Arc<Mutex<BTreeMap<String, RemoteTrouble>>>,
}

impl<F: Flow> Clone for Engine<F> {
    fn clone(&self) -> Self {
        Engine {
            flow: self.flow.clone(),
            threads: Arc::clone(&self.threads),
            changed: self.changed.clone(),
            cancelled: Arc::clone(&self.cancelled),
            failures: Arc::clone(&self.failures),
            runs: Arc::clone(&self.runs),
            told: Arc::clone(&self.told),
            troubles: Arc::clone(&self.troubles),
        }
    }
}

impl<F: Flow<State: Storable>> Engine<F> {
    pub(crate) fn new(flow: ThreadEngine<F>) -> Self {
        Engine {
            flow,
            threads: Arc::default(),
            changed: watch::Sender::new(()),
            cancelled: Arc::default(),
            failures: Arc::default(),
            runs: Arc::default(),
            told: Arc::default(),
            troubles: Arc::default(),
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
            let told = self.told.lock().await.remove(&thread).unwrap_or_default();
            for (key, value, id) in told.messages {
                let sent = self.flow.edit(&thread, &records, async |thread| {
                    thread.send_value(&key, value, id).await
                });
                let (sent, changes) = sent.await.expect("the records are whole");
                sent.expect("it was checked");
                records.apply(&changes);
            }
            if told.holds && goes_on {
                let held = records.with_status(ThreadStatus::Held, None);
                records.apply(&held.expect("the records are whole"));
                goes_on = false;
            }
            self.threads.lock().await.insert(thread.clone(), records);
            self.changed.send_replace(());
            if !goes_on {
                return;
            }
        }
    }

    /// Holds a thread that no superstep changes any more, if it has not ended.
    async fn set_held(&self, thread: &str) -> Result<ThreadStatus, ThreadError> {
        use ThreadStatus::{Failed, Finished, Held};
        let mut threads = self.threads.lock().await;
        let Some(records) = threads.get_mut(thread) else {
            let thread = thread.into();
            return Err(ThreadError::Unknown { thread });
        };
        let status = records.status().expect("the records are whole").0;
        if matches!(status, Failed | Finished | Held) {
            return Ok(status);
        }
        let held = records.with_status(Held, None);
        records.apply(&held.expect("the records are whole"));
        self.changed.send_replace(());
        Ok(Held)
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
                let run = tokio::spawn(self.clone().run(thread.into()));
                let mut runs = self.runs.lock().await;
                runs.insert(thread.into(), run.abort_handle());
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

    async fn cancel(&self, thread: &str) -> Result<ThreadStatus, ThreadError> {
        self.cancelled.lock().await.push(thread.into());
        if let Some(run) = self.runs.lock().await.remove(thread) {
            run.abort();
        }
        self.set_held(thread).await
    }

    async fn hold(&self, thread: &str) -> Result<(), ThreadError> {
        if self.runs(thread).await {
            self.told
                .lock()
                .await
                .entry(thread.into())
                .or_default()
                .holds = true;
            return Ok(());
        }
        self.set_held(thread).await.map(drop)
    }

    async fn send(
        &self,
        thread: &str,
        key: &str,
        value: Value,
        id: Option<String>,
    ) -> Result<(), ThreadError> {
        let records = self.records(thread).await;
        let copy = (key.to_string(), value.clone(), id.clone());
        let checked = self.flow.edit(thread, &records, async |thread| {
            let (key, value, id) = copy;
            thread.send_value(&key, value, id).await
        });
        checked.await.expect("the records are whole").0?;
        let mut told = self.told.lock().await;
        let told = told.entry(thread.into()).or_default();
        told.messages.push((key.to_string(), value, id));
        Ok(())
    }

    async fn trouble(&self, thread: &str) -> Result<Option<RemoteTrouble>, ThreadError> {
        Ok(self.troubles.lock().await.get(thread).cloned())
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
