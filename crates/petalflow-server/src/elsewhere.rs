//! Threads wherever they are: in the store of the server, and those that engines keep.

use petalflow::checkpoint::{Store as _, StoreError, ThreadInfo, ThreadQuery};

use crate::refusal::Refusal;
use crate::served::{Elsewhere, no_thread};
use crate::server::{Inner, prefix};

impl Inner {
    /// The flow that gave the thread its id, if its threads are not in the store.
    pub(crate) fn elsewhere(&self, thread: &str) -> Option<&dyn Elsewhere> {
        let mut flows = self.settings.flows.iter();
        let flow = flows.find(|flow| thread.starts_with(&prefix(flow.facts())))?;
        flow.elsewhere()
    }

    /// A page of the threads of the store, and of those that are elsewhere.
    pub(crate) async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut found = self.settings.store.threads(query).await?;
        for flow in &self.settings.flows {
            let begins = prefix(flow.facts());
            let begins = if query.prefix.starts_with(&begins) {
                query.prefix
            } else if begins.starts_with(query.prefix) {
                &begins
            } else {
                continue;
            };
            if let Some(elsewhere) = flow.elsewhere() {
                let page = ThreadQuery {
                    prefix: begins,
                    ..query
                };
                found.extend(elsewhere.list(page).await?);
            }
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// When a thread was created that is not in the store. Its first checkpoint may be gone, so its other parts do not say it.
    pub(crate) async fn created_elsewhere(&self, thread: &str) -> Result<Option<u64>, Refusal> {
        let Some(elsewhere) = self.elsewhere(thread) else {
            return Ok(None);
        };
        Ok(elsewhere.info(thread).await?.map(|info| info.created_ms))
    }

    /// Fails if there is no such thread.
    pub(crate) async fn must_exist(&self, thread: &str) -> Result<(), Refusal> {
        let info = self.info(thread).await?;
        info.map(drop).ok_or_else(no_thread)
    }

    /// What is listed of a thread.
    pub(crate) async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
        if let Some(elsewhere) = self.elsewhere(thread) {
            return elsewhere.info(thread).await;
        }
        let query = ThreadQuery {
            prefix: thread,
            limit: Some(1),
            ..ThreadQuery::default()
        };
        // The id itself is the first one that begins with it.
        let mut found = self.settings.store.threads(query).await?;
        Ok(found.pop().filter(|info| info.id == thread))
    }
}
