//! What Restate keeps of a thread, and what its handlers receive and return.

use std::collections::BTreeMap;

use petalflow::checkpoint::{ThreadInfo, ThreadStatus};
use petalflow::engine::{RecordChanges, RecordsError, ThreadRecords};
use restate_sdk::serde::{Deserialize, Serialize};

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
    /// When the thread was created, in milliseconds since 1970 (UTC). Its first checkpoint may be gone.
    #[serde(default)]
    pub(crate) created_ms: Option<u64>,
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
            damage,
        }
    }
}

/// A change that a client makes.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The version that the client knows.
    pub(crate) version: u64,
    pub(crate) changes: RecordChanges,
}

/// The task that a node host runs.
#[derive(Clone, Debug)]
pub(crate) struct TaskCall {
    pub(crate) meta: CallMeta,
    pub(crate) records: ThreadRecords,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct CallMeta {
    pub(crate) thread: String,
    pub(crate) used: u64,
    pub(crate) task: [u8; 16],
}

impl ThreadState {
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

/// A JSON text and bytes, one after the other, with the length of the text before them.
fn join(head: &impl serde::Serialize, body: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
    Ok([&length.to_be_bytes()[..], &head, body].concat())
}

fn split<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), RecordsError> {
    let damaged = || RecordsError::Damaged("the message is too short".into());
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    let length = u32::from_be_bytes(*length) as usize;
    let (head, body) = rest.split_at_checked(length).ok_or_else(damaged)?;
    let head = serde_json::from_slice(head);
    Ok((
        head.map_err(|error| RecordsError::Damaged(error.to_string()))?,
        body,
    ))
}

/// Makes a type with a head and a body a value of Restate.
macro_rules! message {
    ($type:ident { $head:ident, $body:ident: $of:ident }) => {
        impl Serialize for $type {
            type Error = serde_json::Error;

            fn serialize(&self) -> Result<bytes::Bytes, Self::Error> {
                Ok(join(&self.$head, &self.$body.to_bytes())?.into())
            }
        }

        impl Deserialize for $type {
            type Error = RecordsError;

            fn deserialize(bytes: &mut bytes::Bytes) -> Result<Self, Self::Error> {
                let ($head, $body) = split(bytes)?;
                let $body = $of::from_bytes($body)?;
                Ok($type { $head, $body })
            }
        }
    };
}

message!(ThreadState {
    meta,
    records: ThreadRecords
});
message!(TaskCall {
    meta,
    records: ThreadRecords
});
message!(Change {
    version,
    changes: RecordChanges
});
