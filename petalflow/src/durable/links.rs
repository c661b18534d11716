//! Threads that other threads have started, and that those wait for; and messages for which threads wait.
//!
//! * **Started once.** The first checkpoint of a child names the task that has started it. It is due at once, so that each process that
//!   [wakes](crate::thread::Threads::wake) its flow may run it.
//! * **Joined.** A task that waits sleeps until it looks again. Before it sleeps, it adds the id of its thread beside number 0 of the
//!   links of the child, and looks once more. A child that has ended sets its status first, and reads the ids behind that. So one of the
//!   two sees the other. The end of the child makes the other thread due at once.
//! * **Messages.** A task that waits for a message sleeps in the same way. Who sends one stores it first, and makes the thread due if it
//!   sleeps. A run sets its status first, and then looks for the message. So one of the two sees the other.
//! * **Nothing depends on that.** If a process dies between the two, or the threads are in different stores, the task looks again when
//!   its sleep ends.

use std::sync::Arc;
use std::time::Duration;

use super::claim::due_signal::tell_due;
use super::claim::thread_claim::{ThreadClaim, new_owner};
use crate::checkpoint::{
    LINKS, OnBusy, Store, StoreError, StoredWrite, ThreadInfo, ThreadStatus, ThreadStorage,
    WriteName,
};
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::inbox::received;
use crate::outcome::{RunError, ThreadError};
use crate::task_services::Receipt;

/// Of what is recorded for a thread and not for a task.
const NO_TASK: TaskId = TaskId::from_bytes([0; 16]);

/// How often the end of a thread tries to wake another one that is busy, and the first wait between two attempts.
const ATTEMPTS: (u32, Duration) = (7, Duration::from_millis(10));

/// How the last run of a thread has ended.
pub(crate) enum ThreadEnd {
    Finished,
    /// With the cause, if it is known.
    Failed(Option<String>),
    Held,
}

/// How the thread has ended. `None` if it goes on, or will.
pub(crate) async fn end_of(
    storage: &ThreadStorage,
    info: &ThreadInfo,
) -> Result<Option<ThreadEnd>, ThreadError> {
    Ok(match info.status {
        ThreadStatus::Finished => Some(ThreadEnd::Finished),
        ThreadStatus::Held => Some(ThreadEnd::Held),
        ThreadStatus::Failed => {
            let links = storage.writes(LINKS, 0).await?;
            let mut causes = links.into_iter();
            let cause = causes.find(|link| link.contents() == Some(WriteName::Cause));
            let cause = cause.map(|cause| String::from_utf8_lossy(&cause.bytes).into_owned());
            Some(ThreadEnd::Failed(cause))
        }
        _ => None,
    })
}

/// Which task has started the thread; `None` in it if no task has. `None` if there is no such thread.
pub(crate) async fn started_by(
    storage: &ThreadStorage,
) -> Result<Option<Option<TaskId>>, ThreadError> {
    let newest = storage.history("", None, 1).await?;
    let record = storage.records("", &newest).await?.pop();
    Ok(record.map(|record| record.header.owner.map(TaskId::from_bytes)))
}

/// How a thread reaches another one: by its id if both are in stores, by the engine and the id if both are in engines. `None` if it
/// does not.
pub(crate) fn address_of(thread: &str, store: &dyn Store, for_store: &dyn Store) -> Option<String> {
    match (store.engine(), for_store.engine()) {
        (None, None) => Some(thread.into()),
        (Some(engine), Some(_)) => Some(format!("{engine}/{thread}")),
        _ => None,
    }
}

/// Records that a thread is cancelled with the one of the task.
pub(crate) async fn add_cancelled_child(
    parent: &ThreadStorage,
    child: &str,
) -> Result<(), ThreadError> {
    let name = WriteName::Child(TaskId::of(&[child.as_bytes()]));
    let link = StoredWrite::new(NO_TASK, name, child.into());
    Ok(parent.write(LINKS, 0, vec![link]).await?)
}

/// Records that a task of a thread waits for the end of this one.
pub(crate) async fn add_joining(
    child: &ThreadStorage,
    task: TaskId,
    parent: &str,
) -> Result<(), ThreadError> {
    let link = StoredWrite::new(task, WriteName::Joined, parent.into());
    Ok(child.write(LINKS, 0, vec![link]).await?)
}

/// Records why a run failed, if other threads may wait for it. The status of the thread is not set yet.
pub(super) async fn record_cause(
    storage: &ThreadStorage,
    status: ThreadStatus,
    error: Option<&RunError>,
) -> Result<(), StoreError> {
    let Some(error) = error.filter(|_| status == ThreadStatus::Failed) else {
        return Ok(());
    };
    if !storage.links.is_child() {
        return Ok(());
    }
    let cause = StoredWrite::new(NO_TASK, WriteName::Cause, error.to_string().into());
    storage.write(LINKS, 0, vec![cause]).await
}

/// Whether [`run_ended`] has anything to do.
pub(super) fn concerns(storage: &ThreadStorage, due_ms: Option<u64>) -> bool {
    let links = &storage.links;
    let waits = links.has_joined() || links.awaits_messages();
    links.is_child() || (due_ms.is_some() && waits)
}

/// The run of a thread has ended, and has set its status: wakes the threads that wait for this one. Returns whether this thread is due at once, because a thread that it waits for has
/// ended, or a message has arrived.
///
/// Boxed, so that a run has no memory for it.
pub(super) fn run_ended(
    storage: &ThreadStorage,
    status: ThreadStatus,
    due_ms: Option<u64>,
) -> BoxFuture<'_, Result<bool, ThreadError>> {
    Box::pin(async move {
        let is_due = due_ms.is_some()
            && (joined_has_ended(storage).await? || awaited_has_arrived(storage).await?);
        if is_due {
            let now_ms = storage.store.now_ms().await?;
            storage.describe(status, Some(now_ms)).await?;
        }
        if storage.links.is_child() && is_end(status) {
            // They look again by themselves. This run has ended, whatever happens to others.
            let _ = wake_joining(storage).await;
        }
        Ok(is_due)
    })
}

pub(super) fn is_end(status: ThreadStatus) -> bool {
    matches!(
        status,
        ThreadStatus::Finished | ThreadStatus::Failed | ThreadStatus::Held
    )
}

/// Whether one of the threads for which tasks wait has ended.
async fn joined_has_ended(storage: &ThreadStorage) -> Result<bool, ThreadError> {
    for (store, thread) in storage.links.take_joined() {
        let child = ThreadStorage::new(store, thread, "".into());
        if child.info().await?.is_none_or(|info| is_end(info.status)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one of the messages has arrived for which tasks wait.
async fn awaited_has_arrived(storage: &ThreadStorage) -> Result<bool, ThreadError> {
    for awaited in storage.links.awaited() {
        let arrived = received(storage, &awaited.key, awaited.number).await?;
        if arrived.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A message to this key was sent to the thread: makes it due if a task of it waits for one. A run that has it looks by itself.
pub(super) async fn message_arrived(storage: &ThreadStorage, key: &str) -> Result<(), ThreadError> {
    if sleeping(storage).await?.is_some() && waits_for(storage, key).await? {
        wake(&storage.store, &storage.thread).await?;
    }
    Ok(())
}

/// Whether a task of the newest checkpoint waits for a message to this key.
async fn waits_for(storage: &ThreadStorage, key: &str) -> Result<bool, ThreadError> {
    let newest = storage.history("", None, 1).await?;
    let Some(record) = storage.records("", &newest).await?.pop() else {
        return Ok(false);
    };
    let writes = storage.writes("", record.header.origin).await?;
    let mut receipts = writes.iter().filter_map(Receipt::of);
    Ok(receipts.any(|receipt| receipt.is_open() && receipt.key == key))
}

/// Makes the threads due that wait for the end of this one.
pub(super) async fn wake_joining(storage: &ThreadStorage) -> Result<(), ThreadError> {
    for link in storage.writes(LINKS, 0).await? {
        if link.contents() != Some(WriteName::Joined) {
            continue;
        }
        let thread = String::from_utf8_lossy(&link.bytes);
        wake(&storage.store, &thread).await?;
    }
    Ok(())
}

/// Makes a thread due that sleeps. A run that has it looks by itself when it ends.
async fn wake(store: &Arc<dyn Store>, thread: &str) -> Result<(), ThreadError> {
    let (attempts, mut wait) = ATTEMPTS;
    for _ in 0..attempts {
        let mut storage = ThreadStorage::new(Arc::clone(store), thread.into(), "".into());
        let Some(_) = sleeping(&storage).await? else {
            return Ok(());
        };
        match claimed(&storage).await {
            Ok(claim) => {
                storage.claim = claim.granted();
                // It may have changed before it was claimed.
                if let Some(info) = sleeping(&storage).await? {
                    let now_ms = store.now_ms().await?;
                    storage.flow = info.flow.into();
                    storage.describe(info.status, Some(now_ms)).await?;
                }
                // A waker that is told before would find the thread busy.
                drop(claim);
                tell_due(&storage.flow);
                return Ok(());
            }
            Err(ThreadError::Busy { .. }) => tokio::time::sleep(wait).await,
            Err(error) => return Err(error),
        }
        wait *= 2;
    }
    Ok(())
}

/// What is listed of a thread, if it sleeps.
async fn sleeping(storage: &ThreadStorage) -> Result<Option<ThreadInfo>, ThreadError> {
    let info = storage.info().await?;
    let is_asleep = |info: &ThreadInfo| {
        let waits = matches!(info.status, ThreadStatus::Sleeping | ThreadStatus::Waiting);
        waits && info.due_ms.is_some() && info.damage.is_none()
    };
    Ok(info.filter(is_asleep))
}

/// Claims a thread, unless it is busy.
pub(super) async fn claimed(storage: &ThreadStorage) -> Result<ThreadClaim, ThreadError> {
    ThreadClaim::acquire(new_owner(), storage, OnBusy::Refuse, &mut None, None).await
}
