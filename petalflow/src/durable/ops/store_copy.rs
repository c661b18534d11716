//! Copies a thread to another store.

use crate::checkpoint::{StoreChange, ThreadInfo, ThreadStatus, ThreadStorage};
use crate::outcome::ThreadError;

/// Copies everything that is stored of a thread to a store that has no thread with its id, in one step. The bytes stay as they
/// are: so does the incarnation in them, and with it the ids of the tasks.
pub(crate) async fn copy_to_store(
    from: &ThreadStorage,
    to: &ThreadStorage,
) -> Result<(), ThreadError> {
    let thread = || from.thread.to_string();
    let Some(info) = from.info().await? else {
        return Err(ThreadError::Unknown { thread: thread() });
    };
    if !to.store.namespaces(&to.thread).await?.is_empty() {
        return Err(ThreadError::Exists { thread: thread() });
    }
    let mut changes = Vec::new();
    for namespace in from.store.namespaces(&from.thread).await? {
        copy_namespace(from, namespace, &mut changes).await?;
    }
    changes.push(status_of_copy(&info));
    if !info.attributes.is_empty() {
        changes.push(StoreChange::Attributes(info.attributes.clone()));
    }
    if !info.labels.is_empty() {
        // Written before its checkpoints, so that the thread has them as soon as it exists.
        to.set_labels(&info.labels).await?;
    }
    Ok(to.apply(changes).await?)
}

/// Adds the checkpoints of a namespace, and the records beside them.
async fn copy_namespace(
    from: &ThreadStorage,
    namespace: String,
    changes: &mut Vec<StoreChange>,
) -> Result<(), ThreadError> {
    let mut checkpoints = from.history(&namespace, None, usize::MAX).await?;
    checkpoints.reverse();
    let mut after = None;
    for checkpoint in checkpoints {
        let seq = checkpoint.seq;
        changes.push(StoreChange::Append {
            namespace: namespace.clone(),
            checkpoint,
            after,
            settled: 0..0,
        });
        after = Some(seq);
    }
    for (seq, write) in from.writes_beside(&namespace, 0..u64::MAX).await? {
        changes.push(StoreChange::Write {
            namespace: namespace.clone(),
            seq,
            writes: vec![write],
        });
    }
    Ok(())
}

/// No process continues the copy by itself: the other thread may go on, too.
fn status_of_copy(info: &ThreadInfo) -> StoreChange {
    let status = match info.status {
        rests @ (ThreadStatus::Finished | ThreadStatus::Failed | ThreadStatus::Waiting) => rests,
        _ => ThreadStatus::Held,
    };
    StoreChange::Status {
        flow: info.flow.clone(),
        status,
        due_ms: None,
    }
}
