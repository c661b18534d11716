//! Decodes the results of scripts.

use std::collections::BTreeMap;

use petalflow::checkpoint::{StoreError, StoredCheckpoint, StoredWrite, ThreadInfo, ThreadStatus};
use petalflow::event::TaskId;

use crate::keys::{DIGITS, digits};

/// Names, each followed by its bytes. `None` means missing bytes.
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

/// Decodes the result of the script that lists threads: four values for each.
pub(crate) fn infos(values: Pairs) -> Result<Vec<ThreadInfo>, StoreError> {
    let mut infos = Vec::new();
    let mut values = values.into_iter();
    while let Some(id) = values.next() {
        let id = text(id.unwrap_or_default())?;
        let mut next = || values.next().flatten().unwrap_or_default();
        let [info, state, labels] = [next(), next(), next()];
        let found = thread_info(&id, &info, &state, &labels);
        infos.push(found.ok_or_else(|| damaged(&id, "the information about the thread", &info))?);
    }
    Ok(infos)
}

/// Encodes a status, without the number for which it was set.
pub(crate) fn state(status: ThreadStatus, due_ms: Option<u64>, flow: &str) -> String {
    let due = due_ms.map(digits).unwrap_or_default();
    format!("{}\0{due}\0{flow}", status.as_str())
}

/// Encodes labels.
pub(crate) fn labels(labels: &BTreeMap<String, String>) -> String {
    let texts: Vec<&str> = labels
        .iter()
        .flat_map(|(name, value)| [&**name, &**value])
        .collect();
    texts.join("\0")
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

fn thread_info(id: &str, info: &[u8], state: &[u8], labels: &[u8]) -> Option<ThreadInfo> {
    let (sizes, own) = info.split_at_checked(4 * DIGITS)?;
    let [checkpoints, bytes, updated_ms, created_ms] = numbers(sizes)?;
    let mut info = ThreadInfo {
        id: id.into(),
        checkpoints,
        bytes,
        created_ms,
        updated_ms,
        ..ThreadInfo::default()
    };
    if !state.is_empty() {
        let mut parts = std::str::from_utf8(state).ok()?.splitn(4, '\0');
        let (at, status, due) = (parts.next()?, parts.next()?, parts.next()?);
        info.flow = parts.next()?.into();
        if at.as_bytes() == own {
            info.status = ThreadStatus::named(status)?;
            info.due_ms = number(due.as_bytes());
        }
    }
    if !labels.is_empty() {
        let mut texts = std::str::from_utf8(labels).ok()?.split('\0');
        while let Some(name) = texts.next() {
            info.labels.insert(name.into(), texts.next()?.into());
        }
    }
    Some(info)
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
