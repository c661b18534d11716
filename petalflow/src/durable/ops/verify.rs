//! Checks everything that is stored of a thread.

use super::stored_snapshot::stored_snapshot;
use crate::checkpoint::{EVENT_LOG, STOPS, StoreError, StoredCheckpoint, ThreadStorage, is_inbox};
use crate::durable::claim::stop;
use crate::durable::inbox;
use crate::durable::write::event_log::events_since;
use crate::outcome::ThreadError;

/// The number of checkpoints that are read at once.
const PAGE: usize = 100;

/// What is damaged of a thread. Fails if the store does.
pub(crate) async fn verify(storage: &ThreadStorage) -> Result<Vec<String>, ThreadError> {
    let mut problems = Vec::new();
    let info = note_damage(storage.info().await, &mut problems)?.flatten();
    let damage = info.as_ref().and_then(|info| info.damage.clone());
    problems.extend(damage);
    let namespaces = storage.store.namespaces(&storage.thread).await;
    let namespaces = note_damage(namespaces, &mut problems)?.unwrap_or_default();
    let mut found = 0;
    for namespace in &namespaces {
        found += verify_checkpoints(storage, namespace, &mut problems).await?;
        let writes = storage.writes_beside(namespace, 0..u64::MAX).await;
        for (seq, write) in note_damage(writes, &mut problems)?.unwrap_or_default() {
            if write.contents().is_none() {
                let name = &write.name;
                problems.push(format!(
                    "`{name}` beside checkpoint {seq} is no record of a task"
                ));
            }
        }
    }
    if let Some(info) = info
        && problems.is_empty()
        && info.checkpoints != found
    {
        problems.push(format!(
            "it is listed with {} checkpoints, and has {found}",
            info.checkpoints
        ));
    }
    if problems.is_empty() {
        // Each checkpoint can be read. The values of the newest one are decoded, too.
        note_damage(stored_snapshot(storage, None).await, &mut problems)?;
    }
    problems.dedup();
    Ok(problems)
}

/// Reads all checkpoints at an address, and checks that each has those that it builds on. Returns how many there are.
async fn verify_checkpoints(
    storage: &ThreadStorage,
    namespace: &str,
    problems: &mut Vec<String>,
) -> Result<u64, ThreadError> {
    let is_log = namespace == EVENT_LOG;
    if is_log {
        note_damage(events_since(storage, 0).await, problems)?;
    }
    let is_inbox = is_inbox(namespace);
    if is_inbox {
        note_damage(inbox::verify(storage, namespace).await, problems)?;
    }
    if namespace == STOPS {
        note_damage(stop::verify(storage).await, problems)?;
    }
    let (mut before, mut found) = (None, 0);
    let mut builds_on: Option<(u64, Option<u64>)> = None;
    loop {
        let page = storage.history(namespace, before, PAGE).await;
        let Some(page) = note_damage(page, problems)? else {
            return Ok(found);
        };
        let Some(oldest) = page.last() else {
            break;
        };
        before = Some(oldest.seq);
        found += page.len() as u64;
        if is_log || is_inbox {
            continue;
        }
        let records = storage.records(namespace, &page).await;
        let Some(records) = note_damage(records, problems)? else {
            return Ok(found);
        };
        for (checkpoint, record) in page.iter().zip(&records) {
            check_parent(builds_on, Some(checkpoint), problems);
            let needs = checkpoint.base != checkpoint.seq;
            builds_on = needs.then_some((checkpoint.seq, record.header.parent));
        }
    }
    check_parent(builds_on, None, problems);
    Ok(found)
}

/// Checks that a checkpoint follows the one that it builds on.
fn check_parent(
    newer: Option<(u64, Option<u64>)>,
    found: Option<&StoredCheckpoint>,
    problems: &mut Vec<String>,
) {
    if let Some((seq, parent)) = newer
        && parent != found.map(|found| found.seq)
    {
        problems.push(format!(
            "checkpoint {seq} builds on the one before it, which is missing; restore it from a backup"
        ));
    }
}

/// What was read. `None` if it is damaged, which is noted then.
fn note_damage<T>(
    read: Result<T, impl Into<ThreadError>>,
    problems: &mut Vec<String>,
) -> Result<Option<T>, ThreadError> {
    match read.map_err(Into::into) {
        Ok(read) => Ok(Some(read)),
        Err(ThreadError::Store(StoreError::Damaged { problem, .. })) => {
            problems.push(problem);
            Ok(None)
        }
        Err(
            error @ (ThreadError::Store(StoreError::Protection(_)) | ThreadError::Value { .. }),
        ) => {
            problems.push(error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
