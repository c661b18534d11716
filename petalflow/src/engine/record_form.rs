//! The keys and the bytes of single records.

use super::records_error::RecordsError;
use crate::checkpoint::{
    Attribute, CodecError, EVENT_LOG, StoredCheckpoint, StoredWrite, ThreadStatus,
};
use crate::ids::TaskId;
use petalflow_store::codec::{Unpack, pack, unpack};

/// Separates the parts of a key. No part contains it.
pub(super) const SEPARATOR: char = '\0';

/// The key of the status.
pub(super) const STATUS: &str = "status";

pub(super) fn key(parts: &[&str]) -> String {
    parts.join("\0")
}

/// What the keys of the checkpoints of the thread's own flow begin with.
pub(super) fn own_checkpoints() -> String {
    key(&["c", "", ""])
}

/// Numbers that sort like their text.
pub(super) fn number(seq: u64) -> String {
    format!("{seq:016x}")
}

/// The end of the keys that consist of this prefix and a number: only hexadecimal digits follow it.
pub(super) fn after_numbers(prefix: &str) -> String {
    format!("{prefix}~")
}

/// The end of the keys whose first parts are these: the next character after the separator.
pub(super) fn after_parts(parts: &[&str]) -> String {
    format!("{}\u{1}", parts.join("\0"))
}

/// The number at the end of a key; 0 if there is none.
pub(super) fn number_in(key: &str) -> u64 {
    let number = key.rsplit(SEPARATOR).next();
    number
        .and_then(|number| u64::from_str_radix(number, 16).ok())
        .unwrap_or(0)
}

/// The key and the bytes of a record of the log.
pub(super) fn log_record(record: &StoredCheckpoint) -> (String, Vec<u8>) {
    let key = key(&["c", EVENT_LOG, &number(record.seq)]);
    (key, pack_checkpoint(record))
}

pub(super) fn unknown_record(key: &str) -> RecordsError {
    RecordsError::Damaged(format!(
        "the record `{}` is not known; another version of petalflow may have written it",
        key.replace(SEPARATOR, "/")
    ))
}

pub(super) fn pack_checkpoint(checkpoint: &StoredCheckpoint) -> Vec<u8> {
    let mut out = Vec::with_capacity(checkpoint.bytes.len() + 32);
    pack::array(4, &mut out);
    pack::number(checkpoint.seq, &mut out);
    pack::number(checkpoint.base, &mut out);
    pack::number(checkpoint.created_ms, &mut out);
    pack::bytes(&checkpoint.bytes, &mut out);
    out
}

pub(super) fn unpack_checkpoint(bytes: &[u8]) -> Result<StoredCheckpoint, CodecError> {
    let (checkpoint, contents) = unpack_numbers(bytes)?;
    Ok(StoredCheckpoint {
        bytes: contents.to_vec(),
        ..checkpoint
    })
}

/// A checkpoint without its contents, and the contents.
pub(super) fn unpack_numbers(bytes: &[u8]) -> Result<(StoredCheckpoint, &[u8]), CodecError> {
    unpack(bytes, |from| {
        from.tuple(4)?;
        let checkpoint = StoredCheckpoint {
            seq: from.number()?,
            base: from.number()?,
            created_ms: from.number()?,
            bytes: Vec::new(),
        };
        Ok((checkpoint, from.bytes()?))
    })
}

pub(super) fn pack_status(flow: &str, status: ThreadStatus, due_ms: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    pack::array(3, &mut out);
    pack::text(flow, &mut out);
    pack::text(status.as_str(), &mut out);
    pack::option(due_ms, &mut out, pack::number);
    out
}

pub(super) fn unpack_status(
    bytes: &[u8],
) -> Result<(String, ThreadStatus, Option<u64>), RecordsError> {
    let (flow, status, due_ms) = unpack(bytes, |from| {
        from.tuple(3)?;
        Ok((from.text()?, from.text()?, from.option(Unpack::number)?))
    })?;
    let known = ThreadStatus::named(&status);
    let status =
        known.ok_or_else(|| RecordsError::Damaged(format!("unknown status `{status}`")))?;
    Ok((flow, status, due_ms))
}

/// The search attribute that a record has.
pub(super) fn attribute_of(key: &str, bytes: &[u8]) -> Result<Attribute, RecordsError> {
    Attribute::from_bytes(bytes.to_vec()).ok_or_else(|| {
        let key = key.replace(SEPARATOR, "/");
        RecordsError::Damaged(format!("the record `{key}` is no search attribute"))
    })
}

/// The write that a record has, and its number.
pub(super) fn write_of(key: &str, bytes: &[u8]) -> Option<(u64, StoredWrite)> {
    let parts: Vec<&str> = key.split(SEPARATOR).collect();
    let ["w", _, seq, task, name] = parts[..] else {
        return None;
    };
    let write = StoredWrite {
        task: TaskId::parse(task)?,
        name: name.into(),
        bytes: bytes.to_vec(),
    };
    Some((number_in(seq), write))
}
