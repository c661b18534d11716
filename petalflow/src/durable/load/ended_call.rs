//! The checkpoints at which calls of a sub-flow have ended.

use crate::checkpoint::{Cause, Header, StoreError, StoredCheckpoint, ThreadStorage};
use crate::ids::TaskId;

/// The number of checkpoints that are read at once.
const PAGE: usize = 100;

/// Whether a call of the sub-flow has ended here, and did not fail.
pub(in crate::durable) fn is_end_of_call(header: &Header) -> bool {
    header.frontier.is_empty() && header.deferred.is_empty() && header.cause != Cause::Rejected
}

/// The checkpoints from the newest back to the one at which the last call has ended, of a task other than `except`. `None` if
/// there is no such checkpoint.
pub(in crate::durable) async fn back_to_ended_call(
    storage: &ThreadStorage,
    namespace: &str,
    except: Option<TaskId>,
) -> Result<Option<Vec<StoredCheckpoint>>, StoreError> {
    let except = except.map(TaskId::to_bytes);
    let (mut newer, mut before) = (Vec::new(), None);
    loop {
        let page = storage.history(namespace, before, PAGE).await?;
        let Some(oldest) = page.last() else {
            return Ok(None);
        };
        before = Some(oldest.seq);
        let records = storage.records(namespace, &page).await?;
        for (checkpoint, record) in page.into_iter().zip(records) {
            newer.push(checkpoint);
            let header = &record.header;
            if is_end_of_call(header) && (except.is_none() || header.owner != except) {
                return Ok(Some(newer));
            }
        }
    }
}
