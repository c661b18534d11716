//! Threads wherever they are: in the store of the server, and those that engines keep.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    Store as _, StoreError, ThreadCount, ThreadFilter, ThreadInfo, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
use serde_json::Value;

use crate::refusal::Refusal;
use crate::served::{Elsewhere, no_thread};
use crate::server::{Inner, OWN_THREADS, prefix};

/// The longer of two texts that ids begin with. `None` if no id begins with both.
fn narrower<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    if one.starts_with(other) {
        Some(one)
    } else {
        other.starts_with(one).then_some(other)
    }
}

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
            let Some(begins) = narrower(query.prefix, &begins) else {
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
        query.order.sort(&mut found);
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Why threads of a list do not go on that are running, if they are of engines.
    pub(crate) async fn troubles(&self, listed: &[&ThreadInfo]) -> BTreeMap<String, Value> {
        let running = listed
            .iter()
            .filter(|info| info.status == ThreadStatus::Running);
        let running: Vec<&str> = running.map(|info| &*info.id).collect();
        let mut troubles = BTreeMap::new();
        for flow in &self.settings.flows {
            let Some(elsewhere) = flow.elsewhere() else {
                continue;
            };
            let begins = prefix(flow.facts());
            let own = running.iter().filter(|thread| thread.starts_with(&begins));
            let own: Vec<&str> = own.copied().collect();
            if !own.is_empty() {
                troubles.extend(elsewhere.troubles(&own).await);
            }
        }
        troubles
    }

    /// How many threads of the served flows have each status. Their flows are those that a list shows.
    ///
    /// What the id of a thread begins with says whose it is, so each flow is counted by itself: the store does not know the name of the
    /// flow while the first run is in progress.
    pub(crate) async fn counts(
        &self,
        query: ThreadQuery<'_>,
    ) -> Result<Vec<ThreadCount>, StoreError> {
        let store = &self.settings.store;
        let mut counts = Vec::new();
        let mut begins = vec![OWN_THREADS.to_string()];
        let hooks = self.settings.hooks.iter();
        let hooks = hooks.map(|hook| (hook.workflow.clone(), hook.prefix(), None));
        let flows = self.settings.flows.iter();
        let flows = flows.map(|flow| {
            let facts = flow.facts();
            (facts.name.clone(), prefix(facts), flow.elsewhere())
        });
        for (name, begin, elsewhere) in hooks.chain(flows) {
            if let Some(prefix) = narrower(query.prefix, &begin) {
                let of_flow = ThreadQuery {
                    prefix,
                    after: None,
                    limit: None,
                    order: ThreadOrder::Id,
                    ..query
                };
                let found = match elsewhere {
                    Some(elsewhere) => ThreadCount::of(&elsewhere.list(of_flow).await?),
                    None => store.thread_counts(of_flow).await?,
                };
                counts.extend(found.into_iter().map(|count| ThreadCount {
                    flow: name.clone(),
                    ..count
                }));
            }
            begins.push(begin);
        }
        // The others are known by the names of their flows.
        let begins: Vec<_> = begins.iter().map(|it| ThreadFilter::Prefix(it)).collect();
        let begun = ThreadFilter::Any(&begins);
        let others = [
            query.filter.unwrap_or(ThreadFilter::All(&[])),
            ThreadFilter::Not(&begun),
        ];
        let others = ThreadQuery {
            filter: Some(ThreadFilter::All(&others)),
            ..query
        };
        for count in store.thread_counts(others).await? {
            let mut flows = self.settings.flows.iter();
            let served = flows.find(|flow| flow.stored_name() == count.flow);
            match served {
                Some(flow) => counts.push(ThreadCount {
                    flow: flow.facts().name.clone(),
                    ..count
                }),
                None if self.settings.stored.is_some() => counts.push(count),
                None => {}
            }
        }
        Ok(counts)
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
