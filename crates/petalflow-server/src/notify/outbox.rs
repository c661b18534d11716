//! The outbox: what the store keeps of notifications until they are delivered.
//!
//! A record is stored before a run begins, and says that the run is to be told of. When the run has ended, the record gets the
//! notification; when that is delivered, the record is deleted. So a process that is killed at any moment leaves a record that the
//! next one finds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::{Store, ThreadInfo};
use petalflow::prelude::*;
use petalflow::thread::{Edit, Retention, ThreadError, Threads};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::notification::Notification;
use super::notifier::Notifier;
use super::told::Told;
use crate::digest::digest;

/// What the ids of all records begin with.
pub(crate) const PREFIX: &str = "petalflow.outbox:";

#[state]
pub(crate) struct Record {
    /// The thread of the run.
    #[key(input)]
    thread: String,
    /// What was listed of the thread before the run.
    #[key(input)]
    before: String,
    /// The notification in JSON. Empty until the run has ended.
    notification: String,
}

/// A flow has a node.
#[node(Record)]
async fn keep() {}

flow!(OutboxRecord(Record) { keep });

/// The notifications of a server.
pub(crate) struct Notifications {
    pub(crate) notifier: Arc<dyn Notifier>,
    pub(crate) outbox: Outbox,
    pub(crate) told: Told,
    /// Wakes the delivery.
    pub(crate) changed: Notify,
    /// The failed deliveries of this process: how many, and when to try again.
    failures: Mutex<HashMap<String, (u32, Instant)>>,
}

/// The records in the store.
pub(crate) struct Outbox {
    threads: Threads<OutboxRecord>,
}

/// A record, as it is stored.
pub(crate) struct Stored {
    pub(crate) thread: String,
    pub(crate) before: String,
    /// When it was stored, in milliseconds since 1970 (UTC).
    pub(crate) created_ms: u64,
    /// `None` until the run has ended.
    pub(crate) notification: Option<Notification>,
}

impl Notifications {
    pub(crate) fn new(notifier: Arc<dyn Notifier>, store: &Arc<dyn Store>) -> Self {
        let threads = OutboxRecord::new().store(store);
        Notifications {
            notifier,
            outbox: Outbox {
                threads: threads.retention(Retention::max_checkpoints(1)),
            },
            told: Told::new(store),
            changed: Notify::new(),
            failures: Mutex::default(),
        }
    }

    /// When a record is tried again. `None`: now.
    pub(crate) fn next_attempt(&self, record: &str) -> Option<Instant> {
        let failures = self.failures.lock();
        let failures = failures.unwrap_or_else(PoisonError::into_inner);
        let (_, at) = failures.get(record)?;
        (*at > Instant::now()).then_some(*at)
    }

    /// Notes that a delivery has failed, and returns how long to wait.
    pub(crate) fn failed(&self, record: &str) -> Duration {
        let failures = self.failures.lock();
        let mut failures = failures.unwrap_or_else(PoisonError::into_inner);
        let (count, at) = failures
            .entry(record.to_string())
            .or_insert((0, Instant::now()));
        *count += 1;
        let wait = self.notifier.retry_wait(*count);
        *at = Instant::now() + wait;
        wait
    }

    pub(crate) fn delivered(&self, record: &str) {
        let failures = self.failures.lock();
        let mut failures = failures.unwrap_or_else(PoisonError::into_inner);
        failures.remove(record);
    }
}

impl Outbox {
    /// Stores a record for a run of the thread that begins. Returns its id.
    pub(crate) async fn add(&self, thread: &str, before: String) -> Result<String, BoxError> {
        let id = format!("{}{:032x}", prefix(thread), fastrand::u128(..));
        let input = RecordInput {
            thread: thread.to_string(),
            before,
        };
        self.threads.thread(&id).run(input).await?.into_finished()?;
        Ok(id)
    }

    /// The record. `None` if another process has deleted it.
    pub(crate) async fn read(&self, id: &str) -> Result<Option<Stored>, ThreadError> {
        let snapshot = self.threads.thread(id).snapshot().await?;
        Ok(snapshot.map(|snapshot| Stored {
            created_ms: snapshot.info.created_ms,
            thread: snapshot.state.thread,
            before: snapshot.state.before,
            notification: serde_json::from_str(&snapshot.state.notification).ok(),
        }))
    }

    /// Stores the notification of an ended run. Does nothing if another process has delivered it already.
    pub(crate) async fn set(
        &self,
        id: &str,
        notification: &Notification,
    ) -> Result<(), ThreadError> {
        let text = serde_json::to_string(notification);
        let text = text.map_err(|error| ThreadError::Request(error.to_string()))?;
        let edit = Edit::new(RecordNotification(text));
        match self.threads.thread(id).update(edit).await {
            Ok(_) | Err(ThreadError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn delete(&self, id: &str) -> Result<(), ThreadError> {
        self.threads.thread(id).delete().await
    }
}

/// What the ids of the records of a thread begin with.
pub(crate) fn prefix(thread: &str) -> String {
    format!("{PREFIX}{}:", digest(thread))
}

/// What is listed of a thread, to see whether a run has changed it.
pub(crate) fn mark(info: Option<&ThreadInfo>) -> String {
    info.map_or_else(String::new, |info| {
        format!("{} {} {}", info.checkpoints, info.updated_ms, info.status)
    })
}
