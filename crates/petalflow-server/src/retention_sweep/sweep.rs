//! Deletes finished threads that are not kept.

use petalflow::checkpoint::{
    Claim, Store as _, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};
use petalflow::thread::ThreadError;

use crate::refusal::Refusal;
use crate::retention::ThreadRetention;
use crate::server::{Inner, PAGE, prefix};

/// The claim of the process that deletes.
const CLAIM: &str = "petalflow.retention";

impl Inner {
    /// Deletes the finished threads that are not kept, if nobody has done it for a while. Of several processes, one does it at a time.
    pub(crate) async fn delete_unkept(&self) -> Result<(), Refusal> {
        let rules = &self.settings.retention;
        if !rules.sweep.is_due() {
            return Ok(());
        }
        let flows = rules.flows().await?;
        if flows.is_empty() {
            return Ok(());
        }
        let store = &self.settings.store;
        let owner = format!("{:032x}", fastrand::u128(..));
        if let Claim::Busy { .. } = store.claim(CLAIM, &owner).await? {
            return Ok(());
        }
        let mut deleted = Ok(());
        for flow in flows {
            deleted = deleted.and(self.delete_unkept_of(&flow).await);
        }
        store.release(CLAIM, &owner);
        deleted
    }

    async fn delete_unkept_of(&self, flow: &str) -> Result<(), Refusal> {
        let retention = self.settings.retention.of(flow).await?.retention;
        // A rule for a flow that this server does not serve is that of another server.
        let Ok(shown) = self.shown_flow(flow) else {
            return Ok(());
        };
        if retention.keeps_all() {
            return Ok(());
        }
        let prefix = prefix(shown.facts());
        let finished = ThreadQuery {
            prefix: &prefix,
            status: Some(ThreadStatus::Finished),
            order: ThreadOrder::UpdatedOldest,
            ..ThreadQuery::default()
        };
        let store = &self.settings.store;
        if let Some(oldest_ms) = retention.oldest_ms(store.now_ms().await?) {
            let old = ThreadQuery {
                updated_before_ms: Some(oldest_ms),
                ..finished
            };
            self.delete_first(old, u64::MAX).await?;
        }
        let excess = self.excess(retention, finished).await?;
        self.delete_first(finished, excess).await
    }

    /// How many of the threads are too many.
    async fn excess(
        &self,
        retention: ThreadRetention,
        threads: ThreadQuery<'_>,
    ) -> Result<u64, Refusal> {
        if !retention.counts() {
            return Ok(0);
        }
        let all = ThreadQuery {
            order: ThreadOrder::Id,
            ..threads
        };
        let counts = self.settings.store.thread_counts(all).await?;
        let threads = counts.iter().map(|count| count.threads).sum();
        Ok(retention.excess(threads))
    }

    /// Deletes the first of these threads, page by page.
    async fn delete_first(&self, threads: ThreadQuery<'_>, most: u64) -> Result<(), Refusal> {
        let mut left = most;
        let mut last: Option<ThreadInfo> = None;
        while left > 0 && !self.is_stopping() {
            let limit = usize::try_from(left).unwrap_or(PAGE).min(PAGE);
            let page = ThreadQuery {
                limit: Some(limit),
                ..threads
            };
            let page = match &last {
                Some(last) => page.after_thread(last),
                None => page,
            };
            let found = self.settings.store.threads(page).await?;
            for info in &found {
                self.delete_finished(info).await?;
            }
            left -= found.len().min(limit) as u64;
            let Some(info) = found.into_iter().last() else {
                return Ok(());
            };
            last = Some(info);
        }
        Ok(())
    }

    /// Deletes a thread that is as it was listed. One that has changed since then stays.
    async fn delete_finished(&self, listed: &ThreadInfo) -> Result<(), Refusal> {
        let now = self.info(&listed.id).await?;
        let is_same = |now: &ThreadInfo| {
            now.damage.is_none()
                && now.status == ThreadStatus::Finished
                && now.updated_ms == listed.updated_ms
        };
        if !now.as_ref().is_some_and(is_same) || self.is_running(&listed.id) {
            return Ok(());
        }
        match self.owner(&listed.id).await?.delete(&listed.id).await {
            // Another process has begun a turn, or deletes it.
            Ok(()) | Err(ThreadError::Busy { .. } | ThreadError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
