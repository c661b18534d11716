//! The checkpoints of a thread.

use super::thread_ops::results_beside;
use crate::checkpoint::ThreadStorage;
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::snapshot::{CheckpointInfo, HistoryQuery};

/// The number of checkpoints that are read at once.
const PAGE: usize = 100;

/// The checkpoints of a thread, newest first.
pub(crate) async fn history(
    storage: &ThreadStorage,
    names: NodeNames<'_>,
    query: HistoryQuery,
) -> Result<Vec<CheckpointInfo>, ThreadError> {
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut infos = Vec::new();
    let mut before = query.before;
    // The frontier of the newest checkpoint that is read, and which of its tasks have finished.
    let mut newest_results: Option<(u64, Vec<bool>)> = None;
    while infos.len() < limit {
        let page = storage.history("", before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.seq);
        let records = storage.records("", &page).await?;
        if newest_results.is_none()
            && let Some(newest) = records.first()
        {
            let results = results_beside(storage, &newest.header).await?;
            newest_results = Some((newest.header.origin, results));
        }
        for (checkpoint, record) in page.iter().zip(records) {
            let mut info = CheckpointInfo::of(checkpoint, &record, names);
            // The results of earlier supersteps are removed when they are committed.
            if let Some((_, finished)) = newest_results
                .as_ref()
                .filter(|(origin, _)| *origin == record.header.origin)
            {
                let mut finished = finished.iter();
                info.next
                    .retain(|_| !finished.next().copied().unwrap_or_default());
            }
            if query.covers(&info) && infos.len() < limit {
                infos.push(info);
            }
        }
    }
    Ok(infos)
}
