//! Decodes the results of scripts.

use petalflow::checkpoint::{StoreError, StoredCheckpoint, StoredWrite, ThreadInfo};
use petalflow::event::TaskId;

use crate::keys::DIGITS;

/// Names, each followed by its bytes. `None` stands for missing bytes.
pub(crate) type Pairs = Vec<Option<Vec<u8>>>;

/// The thread in the error of a list that names no thread.
const UNKNOWN: &str = "?";

pub(crate) fn checkpoints(thread: &str, pairs: Pairs) -> Result<Vec<StoredCheckpoint>, StoreError> {
    in_pairs(thread, pairs)
        .map(|pair| {
            let (name, bytes) = pair?;
            checkpoint(&name, bytes)
                .ok_or_else(|| damaged(thread, "the name of a checkpoint", &name))
        })
        .collect()
}

pub(crate) fn writes(thread: &str, pairs: Pairs) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
    in_pairs(thread, pairs)
        .map(|pair| {
            let (name, bytes) = pair?;
            write(&name, bytes).ok_or_else(|| damaged(thread, "the name of a write", &name))
        })
        .collect()
}

pub(crate) fn infos(pairs: Pairs) -> Result<Vec<ThreadInfo>, StoreError> {
    in_pairs(UNKNOWN, pairs)
        .map(|pair| {
            let (id, info) = pair?;
            let id = text(id)?;
            thread_info(&id, &info)
                .ok_or_else(|| damaged(&id, "the information about the thread", &info))
        })
        .collect()
}

/// An id from a list.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|error| damaged(UNKNOWN, "an id", error.as_bytes()))
}

fn in_pairs(
    thread: &str,
    pairs: Pairs,
) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), StoreError>> {
    let mut pairs = pairs.into_iter();
    std::iter::from_fn(move || {
        let (name, bytes) = (pairs.next()?.unwrap_or_default(), pairs.next()?);
        Some(match bytes {
            Some(bytes) => Ok((name, bytes)),
            None => Err(damaged(thread, "the bytes are missing; the name", &name)),
        })
    })
}

/// Decodes number, base and time.
fn checkpoint(name: &[u8], bytes: Vec<u8>) -> Option<StoredCheckpoint> {
    let [seq, base, created_ms] = numbers(name)?;
    Some(StoredCheckpoint {
        seq,
        base,
        created_ms,
        bytes,
    })
}

/// Decodes number, task and name.
fn write(name: &[u8], bytes: Vec<u8>) -> Option<(u64, StoredWrite)> {
    let (seq, rest) = name.split_at_checked(DIGITS)?;
    let (task, name) = rest.split_first_chunk()?;
    let write = StoredWrite {
        task: TaskId::from_bytes(*task),
        name: String::from_utf8(name.to_vec()).ok()?,
        bytes,
    };
    Some((number(seq)?, write))
}

/// Decodes count, bytes and time.
fn thread_info(id: &str, info: &[u8]) -> Option<ThreadInfo> {
    let [checkpoints, bytes, updated_ms] = numbers(info)?;
    Some(ThreadInfo {
        id: id.into(),
        checkpoints,
        bytes,
        updated_ms,
    })
}

fn numbers<const N: usize>(digits: &[u8]) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = digits.chunks(DIGITS).map(number).collect();
    numbers?.try_into().ok()
}

pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn damaged(thread: &str, what: &str, found: &[u8]) -> StoreError {
    StoreError::Damaged {
        thread: thread.into(),
        problem: format!("{what} is `{}`", found.escape_ascii()),
    }
}
