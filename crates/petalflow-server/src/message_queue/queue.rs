//! The records in the store.

use petalflow::checkpoint::{Store, ThreadInfo, ThreadQuery};
use petalflow::prelude::*;
use petalflow::thread::{Retention, ThreadError, Threads};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

use crate::digest::digest;
use crate::refusal::Refusal;
use crate::served::InputValue;

/// What the ids of all records begin with.
const PREFIX: &str = "petalflow.queue:";

#[state]
struct Record {
    /// The thread to which the message was sent.
    #[key(input)]
    thread: String,
    /// The message in JSON.
    #[key(input)]
    message: String,
}

/// A flow has a node.
#[node(Record)]
async fn keep() {}

flow!(QueueRecord(Record) { keep });

/// The label of a record whose message was cancelled: the time in milliseconds since 1970 (UTC).
const CANCELLED: &str = "cancelled";

/// A message in the queue, without what it says.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// The id of its record.
    pub(crate) record: String,
    /// When it was stored, in milliseconds since 1970 (UTC).
    #[cfg(any(feature = "a2a", feature = "openai"))]
    pub(crate) stored_ms: u64,
    /// When it was cancelled, in milliseconds since 1970 (UTC).
    pub(crate) cancelled_ms: Option<u64>,
}

impl Waiting {
    fn of(info: ThreadInfo) -> Self {
        let cancelled = info.labels.get(CANCELLED);
        Waiting {
            cancelled_ms: cancelled.and_then(|at_ms| at_ms.parse().ok()),
            #[cfg(any(feature = "a2a", feature = "openai"))]
            stored_ms: info.created_ms,
            record: info.id,
        }
    }

    /// What the digest of the id of the message begins with, as [`request_labels::mark`](crate::request_labels::mark) makes it.
    #[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
    pub(crate) fn mark(&self) -> &str {
        let digest = self.record.rsplit(':').next().unwrap_or_default();
        digest.get(..16).unwrap_or_default()
    }
}

/// A message that waits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Queued {
    /// The id that the client has given the message, or one of the server.
    pub(crate) id: String,
    /// Whether the client has given it, and may send the message again.
    pub(crate) is_named: bool,
    /// The checksum of the request of a protocol, whose turn can be read again.
    pub(crate) checksum: Option<String>,
    /// Whether the message was sent to the run as well, which may have read it.
    pub(crate) steers: bool,
    pub(crate) input: QueuedInput,
    /// Whether the input discards open questions.
    pub(crate) discards: bool,
}

/// The input of a message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QueuedInput {
    Json(Value),
    #[cfg(feature = "protocol")]
    Turn {
        messages: Vec<petalflow_llm::ChatMessage>,
        client: Box<petalflow_agent::ClientSettings>,
        state: serde_json::Map<String, Value>,
    },
}

impl From<InputValue> for QueuedInput {
    fn from(value: InputValue) -> Self {
        match value {
            InputValue::Json(value) => QueuedInput::Json(value),
            // A message with answers is not queued: the thread waits for them.
            #[cfg(feature = "protocol")]
            InputValue::Turn(turn) => QueuedInput::Turn {
                messages: turn.messages,
                client: Box::new(turn.client),
                state: turn.state,
            },
        }
    }
}

impl From<QueuedInput> for InputValue {
    fn from(value: QueuedInput) -> Self {
        match value {
            QueuedInput::Json(value) => InputValue::Json(value),
            #[cfg(feature = "protocol")]
            QueuedInput::Turn {
                messages,
                client,
                state,
            } => InputValue::Turn(Box::new(crate::turn_parts::TurnInput {
                messages,
                client: *client,
                state,
                ..crate::turn_parts::TurnInput::default()
            })),
        }
    }
}

/// The records in the store.
pub(crate) struct Queue {
    threads: Threads<QueueRecord>,
    store: Arc<dyn Store>,
}

impl Queue {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        let threads = QueueRecord::new().store(store);
        Queue {
            threads: threads.retention(Retention::max_checkpoints(1)),
            store: Arc::clone(store),
        }
    }

    /// Stores a message behind the others of its thread. Does nothing if one with this id is stored. The caller has the lock of the
    /// requests of the thread.
    pub(crate) async fn add(&self, thread: &str, queued: &Queued) -> Result<(), Refusal> {
        let stored = self.of(thread).await?;
        let id = digest(&queued.id);
        if stored.iter().any(|record| record.ends_with(&id)) {
            return Ok(());
        }
        let last = stored.last().and_then(|record| number(record));
        let number = last.map_or(1, |last| last + 1);
        let message = serde_json::to_string(queued);
        let message = message.map_err(|error| {
            let error = ThreadError::Request(format!("the message cannot be stored: {error}"));
            Refusal::from(error)
        })?;
        let input = RecordInput {
            thread: thread.to_string(),
            message,
        };
        let record = format!("{}{number:012}:{id}", prefix(thread));
        let run = self.threads.thread(&record).run(input).await?;
        let stored = run.into_finished();
        stored
            .map(drop)
            .map_err(|paused| Refusal::busy(paused.to_string()))
    }

    /// The ids of the records of a thread, oldest first.
    pub(crate) async fn of(&self, thread: &str) -> Result<Vec<String>, ThreadError> {
        let waiting = self.waiting(thread).await?.into_iter();
        Ok(waiting.map(|waiting| waiting.record).collect())
    }

    /// Deletes a message.
    pub(crate) async fn withdraw(&self, thread: &str, id: &str) -> Result<(), ThreadError> {
        let id = digest(id);
        for record in self.of(thread).await? {
            if record.ends_with(&id) {
                self.delete(&record).await?;
            }
        }
        Ok(())
    }

    /// The message of a thread that the digest of its id begins with. Also one that was cancelled, until it leaves the queue.
    #[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
    pub(crate) async fn find(
        &self,
        thread: &str,
        mark: &str,
    ) -> Result<Option<Waiting>, ThreadError> {
        let mut waiting = self.waiting(thread).await?.into_iter();
        Ok(waiting.find(|waiting| waiting.mark() == mark))
    }

    /// The messages of a thread that wait, or were cancelled, oldest first.
    pub(crate) async fn waiting(&self, thread: &str) -> Result<Vec<Waiting>, ThreadError> {
        let prefix = prefix(thread);
        let query = ThreadQuery {
            prefix: &prefix,
            ..ThreadQuery::default()
        };
        let found = self.store.threads(query).await?;
        Ok(found.into_iter().map(Waiting::of).collect())
    }

    /// Keeps a message from beginning a turn. It leaves the queue in its turn. The caller has the lock of the requests of the thread.
    #[cfg(any(feature = "a2a", feature = "openai"))]
    pub(crate) async fn cancel(&self, record: &str, at_ms: u64) -> Result<(), ThreadError> {
        let labels = [(CANCELLED, at_ms.to_string())];
        self.threads.thread(record).set_labels(labels).await
    }

    /// Whether a message with this id waits.
    pub(crate) async fn has(&self, thread: &str, id: &str) -> Result<bool, ThreadError> {
        let (id, stored) = (digest(id), self.of(thread).await?);
        Ok(stored.iter().any(|record| record.ends_with(&id)))
    }

    /// Some records of all threads.
    pub(crate) async fn some(
        &self,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Vec<String>, ThreadError> {
        let query = ThreadQuery {
            prefix: PREFIX,
            limit: Some(limit),
            after,
            ..ThreadQuery::default()
        };
        let found = self.store.threads(query).await?;
        Ok(found.into_iter().map(|info| info.id).collect())
    }

    /// The thread of a record. `None` if another process has deleted the record.
    pub(crate) async fn thread(&self, record: &str) -> Result<Option<String>, ThreadError> {
        let snapshot = self.threads.thread(record).snapshot().await?;
        Ok(snapshot.map(|snapshot| snapshot.state.thread))
    }

    /// The message of a record. `None` if another process has deleted the record.
    pub(crate) async fn read(&self, record: &str) -> Result<Option<Queued>, ThreadError> {
        let Some(snapshot) = self.threads.thread(record).snapshot().await? else {
            return Ok(None);
        };
        let read = serde_json::from_str(&snapshot.state.message);
        let read = read.map_err(|error| {
            ThreadError::Request(format!(
                "the queued message `{record}` cannot be read: {error}"
            ))
        });
        read.map(Some)
    }

    pub(crate) async fn delete(&self, record: &str) -> Result<(), ThreadError> {
        self.threads.thread(record).delete().await
    }
}

/// What the ids of the records of a thread begin with.
fn prefix(thread: &str) -> String {
    format!("{PREFIX}{}:", digest(thread))
}

/// The number of a record among those of its thread.
fn number(record: &str) -> Option<u64> {
    let (_, rest) = record.strip_prefix(PREFIX)?.split_once(':')?;
    rest.split_once(':')?.0.parse().ok()
}
