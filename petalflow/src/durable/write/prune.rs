//! Removes the checkpoints of a thread that need not be retained.

use std::time::Duration;

use crate::checkpoint::{Retention, ThreadStorage};
use crate::clock::now_ms;
use crate::future::BoxFuture;
use crate::outcome::ThreadError;

/// Removes the checkpoints that need not be retained. Returns how many are retained and were read for it.
///
/// A run may be in progress: what it still needs is newer than what is removed here.
///
/// Boxed, so that no program compiles it again.
pub(crate) fn prune(
    storage: &ThreadStorage,
    retention: Retention,
) -> BoxFuture<'_, Result<u64, ThreadError>> {
    Box::pin(async move {
        let mut retained = 0;
        if retention == Retention::ALL {
            return Ok(retained);
        }
        let now = now_ms();
        // One more than is retained shows that there are others.
        let page = retention
            .max_checkpoints
            .map_or(100, |most| most.saturating_add(1).min(100));
        for namespace in storage.flows().await? {
            let address = storage.address(&namespace);
            let (mut before, mut newer, mut bytes) = (None, 0, 0);
            let mut oldest = None;
            'pages: loop {
                let page = storage.history(&namespace, before, page).await?;
                let Some(last) = page.last() else { break };
                before = Some(last.seq);
                for checkpoint in &page {
                    bytes += checkpoint.bytes.len() as u64;
                    let age = Duration::from_millis(now.saturating_sub(checkpoint.created_ms));
                    if !retention.covers(newer, bytes, age) {
                        break 'pages;
                    }
                    newer += 1;
                    oldest = Some(checkpoint.clone());
                }
            }
            if let Some(oldest) = oldest {
                let base = oldest.base;
                let mut records = storage.records(&namespace, &[oldest]).await?;
                let origin = records.pop().map(|record| record.header.origin);
                // Task results are stored under the origin of the frontier, which may be smaller than the number of the checkpoint.
                let needed = base.min(origin.unwrap_or(base));
                storage.store.prune(address, needed).await?;
            }
            retained += newer as u64;
        }
        Ok(retained)
    })
}
