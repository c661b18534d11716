//! Decodes the results of scripts.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    Attribute, StoreError, StoredCheckpoint, StoredWrite, ThreadInfo, ThreadStatus,
};
use petalflow::event::TaskId;

use crate::keys::{DIGITS, digits};

/// Names, each followed by its bytes. `None` means missing bytes.
pub(crate) type Pairs = Vec<Option<Vec<u8>>>;

/// The thread in an error that is about no thread, or about one whose id is not known.
pub(crate) const UNKNOWN: &str = "?";

pub(crate) fn checkpoints(thread: &str, pairs: Pairs) -> Result<Vec<StoredCheckpoint>, StoreError> {
    in_pairs(thread, pairs)
        .map(|pair| {
            let (name, bytes) = pair?;
            checkpoint(&name, bytes)
                .ok_or_else(|| unreadable(thread, "the name of a checkpoint", &name))
        })
        .collect()
}

pub(crate) fn writes(thread: &str, pairs: Pairs) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
    in_pairs(thread, pairs)
        .map(|pair| {
            let (name, bytes) = pair?;
            write(&name, bytes).ok_or_else(|| unreadable(thread, "the name of a write", &name))
        })
        .collect()
}

/// Decodes the result of the script that lists threads: five values for each. Those that are damaged are listed as such.
pub(crate) fn infos(values: Pairs) -> Result<Vec<ThreadInfo>, StoreError> {
    let mut infos = Vec::new();
    let mut values = values.into_iter();
    while let Some(id) = values.next() {
        let mut next = || values.next().flatten();
        let info = if let Some(id) = id {
            listed(id, &next().unwrap_or_default(), [next(), next(), next()])
        } else {
            let thread = next().unwrap_or_default();
            let thread = String::from_utf8_lossy(&thread).into_owned();
            let problem = "it is in only one of the set `threads` and the hash `infos`";
            Err(damaged(&thread, problem))
        };
        infos.push(info.or_else(ThreadInfo::of_damage)?);
    }
    Ok(infos)
}

/// Decodes what is listed of a thread: its fields of the hashes `infos`, `states`, `labels` and `attributes`.
fn listed(
    id: Vec<u8>,
    info: &[u8],
    [state, labels, attributes]: [Option<Vec<u8>>; 3],
) -> Result<ThreadInfo, StoreError> {
    let id = text(id)?;
    let unreadable_info = || unreadable(&id, "its field of the hash `infos`", info);
    let (sizes, listed) = sizes_and_listed(info).ok_or_else(unreadable_info)?;
    let mut found = thread_info(&id, sizes).ok_or_else(unreadable_info)?;
    if listed & HAS_STATUS != 0 && state.is_none() {
        return Err(damaged(&id, "the hash `states` lacks its status"));
    }
    if listed & HAS_LABELS != 0 && labels.is_none() {
        return Err(damaged(&id, "the hash `labels` lacks its labels"));
    }
    let (state, labels) = (state.unwrap_or_default(), labels.unwrap_or_default());
    add_state(&mut found, &sizes[4 * DIGITS..], &state)
        .ok_or_else(|| unreadable(&id, "its field of the hash `states`", &state))?;
    add_labels(&mut found, &labels)
        .ok_or_else(|| unreadable(&id, "its field of the hash `labels`", &labels))?;
    let attributes = attributes.unwrap_or_default();
    add_attributes(&mut found, &attributes)
        .ok_or_else(|| unreadable(&id, "its field of the hash `attributes`", &attributes))?;
    Ok(found)
}

/// Decodes the version of the layout.
pub(crate) fn layout(digits: &[u8]) -> Result<u32, StoreError> {
    let version = std::str::from_utf8(digits).ok();
    let version = version.and_then(|digits| digits.parse().ok());
    version.ok_or_else(|| unreadable(UNKNOWN, "the version of the layout", digits))
}

/// Decodes the number of the newest checkpoint, which is empty if there is none.
pub(crate) fn newest(thread: &str, digits: &[u8]) -> Result<Option<u64>, StoreError> {
    optional_number(digits)
        .ok_or_else(|| unreadable(thread, "the number of the newest checkpoint", digits))
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

/// Encodes search attributes: for each its name, NUL, the number of the bytes of its value, and these. Empty if there are none.
pub(crate) fn attributes(attributes: &BTreeMap<String, Attribute>) -> Vec<u8> {
    let mut encoded = Vec::new();
    for (name, value) in attributes {
        let value = value.as_bytes();
        encoded.extend_from_slice(format!("{name}\0{}", digits(value.len() as u64)).as_bytes());
        encoded.extend_from_slice(value);
    }
    encoded
}

/// An id from a list.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|error| unreadable(UNKNOWN, "an id", error.as_bytes()))
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
            None => Err(unreadable(thread, "the bytes are missing; the name", &name)),
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

/// What a field of the hash `infos` says to be in the hashes `states` and `labels`.
const HAS_STATUS: u64 = 1;
const HAS_LABELS: u64 = 2;

/// The field of the hash `infos` without the number of writes, which scripts compare, and what is listed of the thread besides.
fn sizes_and_listed(info: &[u8]) -> Option<(&[u8], u64)> {
    let mut parts = info.splitn(3, |byte| *byte == b'#');
    let sizes = parts.next()?;
    parts.next().map_or(Some(0), number)?;
    let listed = parts.next().map_or(Some(0), number)?;
    (listed <= HAS_STATUS | HAS_LABELS).then_some((sizes, listed))
}

fn thread_info(id: &str, info: &[u8]) -> Option<ThreadInfo> {
    let (sizes, own) = info.split_at_checked(4 * DIGITS)?;
    let [checkpoints, bytes, updated_ms, created_ms] = numbers(sizes)?;
    optional_number(own)?;
    Some(ThreadInfo {
        id: id.into(),
        checkpoints,
        bytes,
        created_ms,
        updated_ms,
        ..ThreadInfo::default()
    })
}

/// Adds the flow, and the status if it holds: if it was set for `own`, the newest checkpoint of the thread's own flow.
fn add_state(info: &mut ThreadInfo, own: &[u8], state: &[u8]) -> Option<()> {
    if state.is_empty() {
        return Some(());
    }
    let mut parts = std::str::from_utf8(state).ok()?.splitn(4, '\0');
    let (at, status, due) = (parts.next()?, parts.next()?, parts.next()?);
    info.flow = parts.next()?.into();
    let status = ThreadStatus::named(status)?;
    let due_ms = optional_number(due.as_bytes())?;
    // A thread has a checkpoint before it has the status of it.
    if optional_number(at.as_bytes())? > optional_number(own)? && !own.is_empty() {
        return None;
    }
    if at.as_bytes() == own {
        (info.status, info.due_ms) = (status, due_ms);
    }
    Some(())
}

fn add_labels(info: &mut ThreadInfo, labels: &[u8]) -> Option<()> {
    if labels.is_empty() {
        return Some(());
    }
    let mut texts = std::str::from_utf8(labels).ok()?.split('\0');
    while let Some(name) = texts.next() {
        info.labels.insert(name.into(), texts.next()?.into());
    }
    Some(())
}

fn add_attributes(info: &mut ThreadInfo, mut encoded: &[u8]) -> Option<()> {
    while !encoded.is_empty() {
        let name_ends = encoded.iter().position(|byte| *byte == 0)?;
        let (name, rest) = encoded.split_at(name_ends);
        let (len, rest) = rest.get(1..)?.split_at_checked(DIGITS)?;
        let (value, rest) = rest.split_at_checked(usize::try_from(number(len)?).ok()?)?;
        let name = std::str::from_utf8(name).ok()?;
        let value = Attribute::from_bytes(value.to_vec())?;
        info.attributes.insert(name.into(), value);
        encoded = rest;
    }
    Some(())
}

/// A number, or none for an empty text. `None` if it is damaged.
#[expect(clippy::option_option, reason = "damaged, empty, or a number")]
fn optional_number(digits: &[u8]) -> Option<Option<u64>> {
    match digits.len() {
        0 => Some(None),
        DIGITS => number(digits).map(Some),
        _ => None,
    }
}

fn numbers<const N: usize>(digits: &[u8]) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = digits.chunks(DIGITS).map(number).collect();
    numbers?.try_into().ok()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn unreadable(thread: &str, what: &str, found: &[u8]) -> StoreError {
    damaged(thread, &format!("{what} is `{}`", found.escape_ascii()))
}

pub(crate) fn damaged(thread: &str, problem: &str) -> StoreError {
    StoreError::Damaged {
        thread: thread.into(),
        problem: format!("{problem}; restore it from a backup"),
    }
}
