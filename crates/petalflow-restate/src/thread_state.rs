//! What Restate keeps of a thread, and what its handlers receive and return.

use std::collections::BTreeMap;

use petalflow::Flow;
use petalflow::checkpoint::{Attribute, ThreadInfo, ThreadStatus};
use petalflow::engine::{RecordsError, ThreadRecords};
use petalflow::state::Storable;
use petalflow::thread::{Thread, ThreadError};
use restate_sdk::serde::{Deserialize, Serialize};

use crate::bodies::{BodyError, ThreadBodies};

/// What Restate keeps of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadState {
    pub(crate) meta: Meta,
    pub(crate) records: ThreadRecords,
}

/// What is kept beside the records.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Meta {
    /// How often the records have changed. An invocation for an earlier version does nothing.
    pub(crate) version: u64,
    /// How many supersteps were executed since the last input or answer.
    pub(crate) used: u64,
    /// Why the thread failed.
    pub(crate) failure: Option<String>,
    /// The awakeables of those that wait until the thread rests.
    pub(crate) waiting: Vec<String>,
    /// The addresses of the threads that wait for the end of this one.
    #[serde(default)]
    pub(crate) joining: Vec<String>,
    /// When the thread was created, in milliseconds since 1970 (UTC). Its first checkpoint may be gone.
    #[serde(default)]
    pub(crate) created_ms: Option<u64>,
    /// What tells the objects of the thread from those of a deleted thread with its id.
    #[serde(default)]
    pub(crate) incarnation: String,
    /// The newest version that has objects, or 0.
    #[serde(default)]
    pub(crate) objects: u64,
    /// The keys of the last inputs, the newest last.
    #[serde(default)]
    pub(crate) begun: Vec<String>,
}

/// So many keys of inputs are remembered.
const MAX_BEGUN: usize = 100;

impl Meta {
    /// Whether an input with this key has begun a turn.
    pub(crate) fn has_begun(&self, key: &str) -> bool {
        self.begun.iter().any(|begun| begun == key)
    }

    /// Remembers the key of an input.
    pub(crate) fn begun_with(&mut self, key: Option<String>) {
        self.begun.extend(key);
        let old = self.begun.len().saturating_sub(MAX_BEGUN);
        self.begun.drain(..old);
    }
}

/// What is listed of a thread. It is beside the thread, so that a list does not read the threads.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Listed {
    status: String,
    flow: String,
    checkpoints: u64,
    bytes: u64,
    created_ms: u64,
    updated_ms: u64,
    due_ms: Option<u64>,
    labels: BTreeMap<String, String>,
    /// The search attributes, each as its bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, Vec<u8>>,
}

impl Listed {
    pub(crate) fn new(info: ThreadInfo) -> Self {
        Listed {
            status: info.status.as_str().into(),
            flow: info.flow,
            checkpoints: info.checkpoints,
            bytes: info.bytes,
            created_ms: info.created_ms,
            updated_ms: info.updated_ms,
            due_ms: info.due_ms,
            labels: info.labels,
            attributes: info
                .attributes
                .into_iter()
                .map(|(name, value)| (name, value.as_bytes().to_vec()))
                .collect(),
        }
    }

    /// What it says of the thread with this id. A status that this version does not know is damage.
    #[cfg(feature = "server")]
    pub(crate) fn into_info(self, id: String) -> ThreadInfo {
        let status = ThreadStatus::named(&self.status);
        let damage = status
            .is_none()
            .then(|| format!("its status `{}` is not known", self.status));
        ThreadInfo {
            id,
            status: status.unwrap_or_default(),
            flow: self.flow,
            checkpoints: self.checkpoints,
            bytes: self.bytes,
            created_ms: self.created_ms,
            updated_ms: self.updated_ms,
            due_ms: self.due_ms,
            labels: self.labels,
            attributes: self
                .attributes
                .into_iter()
                .filter_map(|(name, value)| Some((name, Attribute::from_bytes(value)?)))
                .collect(),
            damage,
        }
    }
}

/// What is with the changes that a client makes.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ChangeMeta {
    /// The version that the client knows.
    pub(crate) version: u64,
    /// The incarnation of the thread, which the client has made if the thread is new.
    pub(crate) incarnation: String,
    /// The key of the input, if the change begins a turn with one.
    #[serde(default)]
    pub(crate) key: Option<String>,
}

/// A message to a thread.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct SentMessage {
    /// The key that takes it.
    pub(crate) key: String,
    pub(crate) value: serde_json::Value,
    /// A message with the same id is not stored again.
    pub(crate) id: Option<String>,
}

impl SentMessage {
    /// Adds the message to a thread.
    pub(crate) async fn send_to<F: Flow>(self, thread: &Thread<F>) -> Result<u64, ThreadError>
    where
        F::State: Storable,
    {
        thread.send_value(&self.key, self.value, self.id).await
    }
}

/// What is with the records of a task that a node host runs.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct CallMeta {
    pub(crate) incarnation: String,
    pub(crate) version: u64,
    pub(crate) thread: String,
    pub(crate) used: u64,
    pub(crate) task: [u8; 16],
}

impl ThreadState {
    /// The state that is stored so. No body is no thread.
    pub(crate) async fn open(
        stored: Message<Meta>,
        bodies: &ThreadBodies,
    ) -> Result<Self, BodyError> {
        let Message { head: meta, body } = stored;
        let records = match &body[..] {
            [] => ThreadRecords::default(),
            body => ThreadRecords::from_bytes(&bodies.get(body).await?)?,
        };
        Ok(ThreadState { meta, records })
    }

    /// The state as it is stored. New objects are for its version.
    pub(crate) async fn stored(
        mut self,
        bodies: &ThreadBodies,
    ) -> Result<Message<Meta>, BodyError> {
        let body = bodies.put(self.records.to_bytes()).await?;
        if bodies.used() {
            self.meta.objects = self.meta.version;
        }
        Ok(Message {
            head: self.meta,
            body,
        })
    }

    /// What is listed of the thread.
    pub(crate) fn info(&mut self, thread: &str) -> Result<Option<ThreadInfo>, RecordsError> {
        let info = self.records.info(thread)?;
        Ok(info.map(|info| ThreadInfo {
            created_ms: *self.meta.created_ms.get_or_insert(info.created_ms),
            ..info
        }))
    }

    /// Whether no invocation is to come.
    pub(crate) fn rests(&self) -> Result<bool, RecordsError> {
        Ok(self.records.is_empty() || self.records.status()?.0 != ThreadStatus::Running)
    }
}

/// What travels: a head, and a body that may be the name of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message<H> {
    pub(crate) head: H,
    pub(crate) body: Vec<u8>,
}

impl<H: serde::Serialize> Serialize for Message<H> {
    type Error = serde_json::Error;

    /// The head as JSON and the body, one after the other, with the length of the head before them.
    fn serialize(&self) -> Result<bytes::Bytes, Self::Error> {
        let head = serde_json::to_vec(&self.head)?;
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        Ok([&length.to_be_bytes()[..], &head, &self.body]
            .concat()
            .into())
    }
}

impl<H: serde::de::DeserializeOwned> Deserialize for Message<H> {
    type Error = RecordsError;

    fn deserialize(bytes: &mut bytes::Bytes) -> Result<Self, Self::Error> {
        let damaged = || RecordsError::Damaged("the message is too short".into());
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = u32::from_be_bytes(*length) as usize;
        let (head, body) = rest.split_at_checked(length).ok_or_else(damaged)?;
        let head = serde_json::from_slice(head);
        Ok(Message {
            head: head.map_err(|error| RecordsError::Damaged(error.to_string()))?,
            body: body.to_vec(),
        })
    }
}
