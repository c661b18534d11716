//! A checkpoint combined with those that it builds on.

use super::checkpoint::records;
use super::replay::logs;
use crate::checkpoint::{KeyEntry, KeyKind, OwnedKey, Record, ThreadStorage};
use crate::outcome::ThreadError;

/// A checkpoint combined with those that it builds on, so that it builds on no other. Only stored records are used, because the
/// types of a sub-flow are not known here.
pub(in crate::durable) async fn merged(
    storage: &ThreadStorage,
    namespace: &str,
    seq: u64,
) -> Result<Record, ThreadError> {
    let stored = storage.read(namespace, Some(seq)).await?;
    let chain = stored.map(|stored| stored.chain).unwrap_or_default();
    combine(records(storage, &chain)?).ok_or_else(|| ThreadError::UnknownCheckpoint {
        thread: storage.thread.to_string(),
        checkpoint: seq,
    })
}

/// The last of the records combined with those before it. `None` if there is none.
pub(super) fn combine(mut records: Vec<Record>) -> Option<Record> {
    let outline = records
        .first()
        .and_then(|first| first.header.outline.clone());
    let mut keys = Vec::new();
    for (id, log) in logs(&mut records) {
        let mut entry = |kind, bytes| {
            keys.push(OwnedKey {
                id: id.clone(),
                kind,
                bytes,
            });
        };
        match log.value {
            Some(value) => entry(KeyKind::Value, value),
            None if log.lost => entry(KeyKind::Lost, Vec::new()),
            None if log.unset => entry(KeyKind::Unset, Vec::new()),
            None => {}
        }
        for writes in log.writes {
            entry(KeyKind::Delta, writes);
        }
    }
    let mut record = records.pop()?;
    record.header.outline = outline;
    record.keys = keys;
    Some(record)
}

/// Encodes a checkpoint that builds on no other.
pub(in crate::durable) fn encode(seq: u64, record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    let keys = record.keys.iter().map(|key| KeyEntry {
        id: &key.id,
        kind: key.kind,
        bytes: &key.bytes,
    });
    record.header.encode(seq, None, keys, &mut bytes);
    bytes
}
