//! Finds the threads that another process has changed, such as a program without a server: they are told of too.

use petalflow::checkpoint::{
    Store as _, ThreadFilter, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};

use crate::notify::{Notifications, prefix as records_of};
use crate::refusal::Refusal;
use crate::served::ReadThreads;
use crate::server::{Inner, PAGE, prefix};

/// The statuses that are told.
const TOLD: ThreadFilter<'_> = ThreadFilter::Any(&[
    ThreadFilter::Status(ThreadStatus::Waiting),
    ThreadFilter::Status(ThreadStatus::Finished),
    ThreadFilter::Status(ThreadStatus::Failed),
]);

/// A flow whose threads are looked at.
struct Watched {
    name: String,
    /// What the ids of its threads begin with.
    prefix: String,
    stored_name: String,
}

impl Watched {
    fn of(flow: &(impl ReadThreads + ?Sized)) -> Self {
        Watched {
            name: flow.facts().name.clone(),
            prefix: prefix(flow.facts()),
            stored_name: flow.stored_name().to_string(),
        }
    }
}

impl Inner {
    /// Stores what is to be told of threads of the store that have changed without a run of a server, if nobody has looked for a while.
    pub(super) async fn watch(&self, notifications: &Notifications) -> Result<(), Refusal> {
        let told = &notifications.told;
        if !told.watch.is_due() {
            return Ok(());
        }
        let now_ms = self.settings.store.now_ms().await?;
        let mut oldest_ms = now_ms;
        for flow in self.watched() {
            let since_ms = told.since_ms(&flow.name, now_ms).await?;
            self.watch_since(notifications, &flow, since_ms).await?;
            told.set_since(&flow.name, since_ms, now_ms).await?;
            oldest_ms = oldest_ms.min(since_ms);
        }
        told.forget(oldest_ms).await
    }

    /// The flows whose threads are in the store.
    fn watched(&self) -> Vec<Watched> {
        let flows = self.settings.flows.iter();
        let flows = flows.filter(|flow| flow.elsewhere().is_none());
        let flows = flows.map(|flow| Watched::of(&**flow));
        let hooks = self.hook_flows().map(|hook| Watched::of(&*hook.threads));
        flows.chain(hooks).collect()
    }

    async fn watch_since(
        &self,
        notifications: &Notifications,
        flow: &Watched,
        since_ms: u64,
    ) -> Result<(), Refusal> {
        // A program may choose other ids.
        let of_flow = [
            ThreadFilter::Prefix(&flow.prefix),
            ThreadFilter::Flow(&flow.stored_name),
        ];
        let both = [TOLD, ThreadFilter::Any(&of_flow)];
        let query = ThreadQuery {
            filter: Some(ThreadFilter::All(&both)),
            updated_from_ms: Some(since_ms),
            order: ThreadOrder::UpdatedOldest,
            limit: Some(PAGE),
            ..ThreadQuery::default()
        };
        let mut last: Option<ThreadInfo> = None;
        loop {
            let page = match &last {
                Some(last) => query.after_thread(last),
                None => query,
            };
            let found = self.settings.store.threads(page).await?;
            for info in &found {
                self.watch_one(notifications, info).await?;
            }
            let Some(info) = found.into_iter().last() else {
                return Ok(());
            };
            last = Some(info);
        }
    }

    /// Stores what is to be told of a thread, unless it was told, or a run of a server tells it.
    async fn watch_one(
        &self,
        notifications: &Notifications,
        info: &ThreadInfo,
    ) -> Result<(), Refusal> {
        let thread = &*info.id;
        if info.damage.is_some()
            || self.is_running(thread)
            || notifications.told.has(info).await?
            || !self.records(&records_of(thread)).await?.is_empty()
        {
            return Ok(());
        }
        // As the record of a run that has begun on a new thread, and has ended.
        let added = notifications.outbox.add(thread, String::new()).await;
        added.map_err(|error| Refusal::busy(error.to_string()))?;
        self.settle(notifications, thread, None).await
    }
}
