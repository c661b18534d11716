//! The messages to a thread.
//!
//! A message is a write to a key from outside of a run. The messages of a thread are a chain of records in a namespace of their
//! own: a store keeps their order, and refuses two with one number. Beside number 0 is the number of the last message that the
//! thread has taken. It is stored together with the checkpoint that has the message, so each message counts once.
//!
//! Messages that nodes receive are a chain for each key: what the [task services](crate::task_services) do with it is there.

use crate::checkpoint::{INBOX, StoreError, StoredCheckpoint, ThreadStorage, inbox_of};
use crate::clock::now_ms;
use crate::durable::links;
use crate::durable::record::fingerprint::codec_of;
use crate::erased::{AnyCodec, EffectsBox, StateType};
use crate::exec::Unread;
use crate::inbox::{KEPT, decode, encode, prune, taken};
use crate::outcome::ThreadError;
use petalflow_store::codec::{CodecError, encode as encode_value, pack};
use serde_core::Serialize;

/// The number of messages that are read at once.
const PAGE: usize = 100;

/// A write of this value to the key with this name, which takes messages.
pub(crate) fn message_to(
    ty: &'static StateType,
    name: &str,
    value: &impl Serialize,
) -> Result<(usize, EffectsBox), ThreadError> {
    let codec = codec_of(ty)?;
    let index = ty.keys.iter().position(|key| key.name == name);
    let takes = ty.inbox.union(ty.receive);
    let Some(key) = index.filter(|index| takes.contains(*index)) else {
        let known: Vec<String> = takes
            .iter()
            .map(|key| format!("`{}`", ty.keys[key].name))
            .collect();
        let known = match &*known {
            [] => "none of its keys has `inbox` or `receive`".into(),
            known => format!("those are {}", known.join(", ")),
        };
        let state = ty.name;
        return Err(ThreadError::Request(format!(
            "the state `{state}` has no key `{name}` that takes messages; {known}"
        )));
    };
    let mut bytes = Vec::new();
    // One write that folds.
    pack::array(1, &mut bytes);
    pack::array(2, &mut bytes);
    pack::boolean(false, &mut bytes);
    let unfit = |problem: CodecError| {
        ThreadError::Request(format!("the value of key `{name}` does not fit: {problem}"))
    };
    encode_value(value, &mut bytes).map_err(unfit)?;
    let mut writes = (ty.no_effects)();
    (codec.load_writes)(&mut *writes, key, &bytes).map_err(unfit)?;
    Ok((key, writes))
}

/// Adds the write of a key to the end of the inbox, and returns its number. If there is a message with this id, nothing is added.
pub(crate) async fn send(
    storage: &ThreadStorage,
    id: Option<&str>,
    key: usize,
    effects: EffectsBox,
) -> Result<u64, ThreadError> {
    let codec = codec_of(effects.ty())?;
    let meta = &codec.ty.keys[key];
    let mut writes = Vec::new();
    (codec.save_writes)(&*effects, key, &mut writes).map_err(ThreadError::value(format!(
        "a message to key `{}`",
        meta.name
    )))?;
    if !codec.ty.receive.contains(key) {
        return append(storage, INBOX, id, meta.id, &writes).await;
    }
    let number = append(storage, &inbox_of(meta.id), id, meta.id, &writes).await?;
    // The message is stored. If the thread does not learn of it, it looks by itself.
    let _ = links::message_arrived(storage, meta.id).await;
    Ok(number)
}

async fn append(
    storage: &ThreadStorage,
    namespace: &str,
    id: Option<&str>,
    key: &str,
    writes: &[u8],
) -> Result<u64, ThreadError> {
    let mut searched = 0;
    loop {
        require_thread(storage).await?;
        let newest = newest(storage, namespace).await?;
        if let Some(id) = id
            && let Some(number) = find(storage, namespace, id, searched).await?
        {
            return Ok(number);
        }
        searched = newest.unwrap_or(0);
        let number = searched + 1;
        let mut record = StoredCheckpoint {
            seq: number,
            base: number,
            created_ms: now_ms(),
            bytes: encode(id, key, writes),
        };
        let appended = storage.append(namespace, &mut record, newest, 0..0);
        match appended.await {
            // Another sender was first.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => {
                if let Err(error) = require_thread(storage).await {
                    // It was deleted at this moment. Nothing of it may remain.
                    storage.prune(namespace, number + 1, 0).await?;
                    return Err(error);
                }
                return Ok(number);
            }
        }
    }
}

async fn require_thread(storage: &ThreadStorage) -> Result<(), ThreadError> {
    if storage.history("", None, 1).await?.is_empty() {
        return Err(ThreadError::Unknown {
            thread: storage.thread.to_string(),
        });
    }
    Ok(())
}

async fn newest(storage: &ThreadStorage, namespace: &str) -> Result<Option<u64>, StoreError> {
    let newest = storage.history(namespace, None, 1).await?;
    Ok(newest.first().map(|newest| newest.seq))
}

/// The number of the message with this id, among those after a number.
async fn find(
    storage: &ThreadStorage,
    namespace: &str,
    id: &str,
    after: u64,
) -> Result<Option<u64>, ThreadError> {
    let records = records_after(storage, namespace, after).await?;
    for record in records {
        if decode(&record)?.id.as_deref() == Some(id) {
            return Ok(Some(record.seq));
        }
    }
    Ok(None)
}

/// The records after a number, oldest first.
async fn records_after(
    storage: &ThreadStorage,
    namespace: &str,
    after: u64,
) -> Result<Vec<StoredCheckpoint>, StoreError> {
    let mut records = Vec::new();
    let mut before = None;
    loop {
        let page = storage.history(namespace, before, PAGE).await?;
        let is_last = page.len() < PAGE;
        before = page.last().map(|oldest| oldest.seq);
        let unread = page.into_iter().take_while(|record| record.seq > after);
        records.extend(unread);
        if is_last || before.is_none_or(|oldest| oldest <= after) {
            break;
        }
    }
    records.reverse();
    Ok(records)
}

/// Reads all messages that are stored in one namespace.
pub(in crate::durable) async fn verify(
    storage: &ThreadStorage,
    namespace: &str,
) -> Result<(), ThreadError> {
    taken(storage, namespace).await?;
    for record in records_after(storage, namespace, 0).await? {
        decode(&record)?;
    }
    Ok(())
}

/// The messages to a thread that a run takes. The run has claimed the thread, so no other takes them.
pub(in crate::durable) struct Inbox {
    /// The last message that the run has read. `None` if it is not known yet.
    read: Option<u64>,
    /// Messages up to this number were removed.
    pruned: u64,
}

impl Inbox {
    /// The inbox of a thread with this state. `None` if no key of it takes messages.
    pub(in crate::durable) fn of(ty: &StateType) -> Option<Self> {
        let takes_messages = !ty.inbox.is_empty();
        takes_messages.then_some(Inbox {
            read: None,
            pruned: 0,
        })
    }

    /// The messages that were sent since the last call, in their order.
    pub(in crate::durable) async fn unread(
        &mut self,
        storage: &ThreadStorage,
        codec: AnyCodec,
    ) -> Result<Vec<Unread>, ThreadError> {
        let read = match self.read {
            Some(read) => read,
            None => taken(storage, INBOX).await?,
        };
        self.read = Some(read);
        if read.saturating_sub(self.pruned) >= 2 * KEPT {
            self.pruned = prune(storage, INBOX).await?;
        }
        let records = records_after(storage, INBOX, read).await?;
        records.iter().map(|record| load(record, codec)).collect()
    }

    /// The run has taken the messages up to a number.
    pub(in crate::durable) fn take(&mut self, number: u64) {
        self.read = Some(number);
    }
}

fn load(record: &StoredCheckpoint, codec: AnyCodec) -> Result<Unread, ThreadError> {
    let message = decode(record)?;
    let what = || format!("message {} to key `{}`", record.seq, message.key);
    let mut keys = codec.ty.keys.iter();
    let Some(key) = keys.position(|key| key.id == message.key) else {
        let problem = format!(
            "`{}` has no such key: a key that was renamed keeps its name in storage with `#[key(id = \"{}\")]`",
            codec.ty.name, message.key
        );
        return Err(ThreadError::value(what())(CodecError::Unknown(problem)));
    };
    let mut writes = (codec.ty.no_effects)();
    (codec.load_writes)(&mut *writes, key, &message.writes).map_err(ThreadError::value(what()))?;
    Ok(Unread {
        number: record.seq,
        writes,
    })
}
