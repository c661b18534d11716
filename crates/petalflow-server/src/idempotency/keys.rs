//! What the store keeps of requests with a key. A record is stored before the request is handled, and gets the answer then. So a
//! process that is killed in between leaves a record without an answer, and the next one finds out what was done.

use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow::prelude::*;
use petalflow::thread::{Edit, Retention, ThreadError, Threads};
use serde_json::Value;

use crate::refusal::Refusal;
use crate::repeated::Repeated;

/// What the ids of all records begin with.
const PREFIX: &str = "petalflow.request:";

/// The number of records in one query of the store.
const PAGE: usize = 256;

/// How often old records are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

#[state]
pub(crate) struct Record {
    /// The checksum of the request.
    #[key(input)]
    checksum: String,
    /// What was listed of the thread of the request before it was handled.
    #[key(input)]
    before: String,
    /// When it was stored, in milliseconds since 1970 (UTC), by the clock of the store.
    #[key(input)]
    at_ms: u64,
    /// The answer in JSON. Empty until the request is handled.
    answer: String,
}

/// A flow has a node.
#[node(Record)]
async fn keep() {}

flow!(RequestRecord(Record) { keep });

/// The keys of requests.
pub(crate) struct Keys {
    store: Arc<dyn Store>,
    threads: Threads<RequestRecord>,
    retention: Duration,
    sweep: Repeated,
}

/// A record, as it is stored.
pub(crate) struct Stored {
    pub(crate) checksum: String,
    pub(crate) before: String,
    /// `None` until the request is handled.
    pub(crate) answer: Option<Value>,
}

impl Keys {
    pub(crate) fn new(store: &Arc<dyn Store>, retention: Duration) -> Self {
        let threads = RequestRecord::new().store(store);
        Keys {
            store: Arc::clone(store),
            threads: threads.retention(Retention::max_checkpoints(1)),
            retention,
            sweep: Repeated::every(SWEEP_INTERVAL),
        }
    }

    /// The id of the record of a key.
    pub(crate) fn id(key: &str) -> String {
        format!("{PREFIX}{key}")
    }

    /// The record. `None` if there is none, or if the time of its key is over.
    pub(crate) async fn read(&self, id: &str) -> Result<Option<Stored>, Refusal> {
        let oldest_ms = self.oldest_ms().await?;
        Ok(self.read_known(id, oldest_ms).await?)
    }

    /// The record. Deletes it if it is older than this time.
    async fn read_known(&self, id: &str, oldest_ms: u64) -> Result<Option<Stored>, ThreadError> {
        let thread = self.threads.thread(id);
        let Some(snapshot) = thread.snapshot().await? else {
            return Ok(None);
        };
        let record = snapshot.state;
        if record.at_ms < oldest_ms {
            thread.delete().await?;
            return Ok(None);
        }
        Ok(Some(Stored {
            answer: serde_json::from_str(&record.answer).ok(),
            checksum: record.checksum,
            before: record.before,
        }))
    }

    /// Stores a record without an answer.
    pub(crate) async fn add(
        &self,
        id: &str,
        checksum: &str,
        before: String,
    ) -> Result<(), Refusal> {
        let input = RecordInput {
            checksum: checksum.to_string(),
            before,
            at_ms: self.store.now_ms().await?,
        };
        // Its flow waits for nobody.
        let _finished = self.threads.thread(id).run(input).await?;
        Ok(())
    }

    /// Adds the answer to a record.
    pub(crate) async fn set(&self, id: &str, answer: &Value) -> Result<(), Refusal> {
        let edit = Edit::new(RecordAnswer(answer.to_string()));
        self.threads.thread(id).update(edit).await?;
        Ok(())
    }

    pub(crate) async fn delete(&self, id: &str) -> Result<(), ThreadError> {
        self.threads.thread(id).delete().await
    }

    /// Deletes the records whose time is over, if nobody has done it for a while.
    pub(crate) async fn sweep(&self) -> Result<(), ThreadError> {
        if !self.sweep.is_due() {
            return Ok(());
        }
        let oldest_ms = self.oldest_ms().await?;
        let mut after: Option<String> = None;
        loop {
            let page = ThreadQuery {
                prefix: PREFIX,
                after: after.as_deref(),
                limit: Some(PAGE),
                updated_before_ms: Some(oldest_ms),
                ..ThreadQuery::default()
            };
            let old = self.store.threads(page).await?;
            let Some(last) = old.last() else {
                return Ok(());
            };
            after = Some(last.id.clone());
            for record in &old {
                // What is listed has the clock of a process.
                match self.read_known(&record.id, oldest_ms).await {
                    // Another process deletes it.
                    Ok(_) | Err(ThreadError::Busy { .. } | ThreadError::Unknown { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// When the oldest key was sent that is known, in milliseconds since 1970 (UTC).
    async fn oldest_ms(&self) -> Result<u64, ThreadError> {
        let retention_ms = u64::try_from(self.retention.as_millis()).unwrap_or(u64::MAX);
        Ok(self.store.now_ms().await?.saturating_sub(retention_ms))
    }
}
