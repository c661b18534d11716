//! Messages to a thread, as they are stored.
//!
//! The messages that reducers fold are one chain of records, in the namespace [`INBOX`](crate::checkpoint::INBOX). Those that nodes
//! receive are a chain for each key. Beside number 0 of a chain is the number of the last message that the thread has taken from it.

use crate::checkpoint::{
    StoreChange, StoredCheckpoint, StoredWrite, ThreadStorage, WriteName, inbox_of,
};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{Unpack, pack, unpack};

/// How many messages that were taken remain at least, so that one that is sent again is recognized by its id.
pub(crate) const KEPT: u64 = 1_000;

/// A message in its stored form.
pub(crate) struct StoredMessage {
    pub(crate) id: Option<String>,
    /// The name of the key in storage.
    pub(crate) key: String,
    pub(crate) writes: Vec<u8>,
}

pub(crate) fn encode(id: Option<&str>, key: &str, writes: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(writes.len() + key.len() + 8);
    pack::array(3, &mut bytes);
    pack::option(id, &mut bytes, pack::text);
    pack::text(key, &mut bytes);
    pack::bytes(writes, &mut bytes);
    bytes
}

pub(crate) fn decode(record: &StoredCheckpoint) -> Result<StoredMessage, ThreadError> {
    let message = unpack(&record.bytes, |from| {
        from.tuple(3)?;
        Ok(StoredMessage {
            id: from.option(Unpack::text)?,
            key: from.text()?,
            writes: from.bytes()?.into(),
        })
    });
    message.map_err(ThreadError::value(format!("message {}", record.seq)))
}

/// The number of the last message that the thread has taken; 0 before the first.
pub(crate) async fn taken(storage: &ThreadStorage, namespace: &str) -> Result<u64, ThreadError> {
    let writes = storage.writes(namespace, 0).await?;
    let taken = writes
        .iter()
        .find(|write| write.contents() == Some(WriteName::Taken));
    let Some(taken) = taken else {
        return Ok(0);
    };
    unpack(&taken.bytes, Unpack::number)
        .map_err(ThreadError::value("the number of the last message"))
}

/// What records that the thread has taken all messages up to a number.
pub(crate) fn taken_up_to(namespace: &str, number: u64) -> StoreChange {
    taken_at(namespace, 0, number)
}

/// Records beside a checkpoint of the flow that the thread has taken the messages up to this number, for a thread that retains
/// the results of its tasks.
pub(crate) fn taken_at(namespace: &str, seq: u64, number: u64) -> StoreChange {
    let mut bytes = Vec::new();
    pack::number(number, &mut bytes);
    StoreChange::Write {
        namespace: namespace.into(),
        seq,
        writes: vec![StoredWrite::new(
            TaskId::from_bytes([0; 16]),
            WriteName::Taken,
            bytes,
        )],
    }
}

/// The write of the message to a key that nodes receive, with this number. `None` if there is none yet.
pub(crate) async fn received(
    storage: &ThreadStorage,
    key: &str,
    number: u64,
) -> Result<Option<Vec<u8>>, ThreadError> {
    let before = number.saturating_add(1);
    let newest = storage.history(&inbox_of(key), Some(before), 1).await?;
    match newest.first().filter(|record| record.seq == number) {
        Some(record) => Ok(Some(decode(record)?.writes)),
        None => Ok(None),
    }
}

/// Removes messages that were taken long ago, and returns up to which number. The run may have taken more than the store knows: those
/// are needed after a crash.
pub(crate) async fn prune(storage: &ThreadStorage, namespace: &str) -> Result<u64, ThreadError> {
    let pruned = taken(storage, namespace).await?.saturating_sub(KEPT);
    storage.prune(namespace, pruned + 1, 0).await?;
    Ok(pruned)
}
