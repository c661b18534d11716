//! Delivers notifications, until each is accepted.

use std::future;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use petalflow::checkpoint::{Claim, Store as _, StoreError, ThreadStatus};
use tokio::time::Instant;

use crate::Notice;
use crate::notify::{Notifications, PREFIX, Stored, mark};
use crate::refusal::Refusal;
use crate::server::{Inner, Server};

/// The longest time between two looks at the outbox and at the threads: another process may have left records, or changed threads.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The time until the outbox is looked at again after the store has failed, or while another process delivers.
const RETRY_WAIT: Duration = Duration::from_secs(5);
/// How long a record may wait for its run to begin.
const BEGIN_MS: u64 = 600_000;
/// How many notifications are delivered at the same time.
const CONCURRENT: usize = 16;
/// The claim of the process that delivers.
const CLAIM: &str = "petalflow.outbox";

impl Server {
    /// Delivers notifications to the [notifier](crate::ServerBuilder::notifier), until the server [drains](Self::drain). Returns at
    /// once without a notifier. [`serve`](Self::serve) calls it. Spawn it in a server of your own. Of several processes with one
    /// store, one delivers at a time.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
    /// let of_task = server.clone();
    /// let delivering = tokio::spawn(async move { of_task.run_notifications().await });
    /// // It has no notifier.
    /// delivering.await.expect("it does not panic");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the next call delivers the rest.
    pub async fn run_notifications(&self) {
        let server = self.inner();
        let Some(notifications) = &server.settings.notifications else {
            return;
        };
        while !server.is_stopping() {
            let wait = match server.deliver_all(notifications).await {
                Ok(wait) => wait,
                Err(error) => {
                    let problem = &*error.to_string();
                    let thread = "";
                    server.notify(Notice::NotNotified { thread, problem });
                    RETRY_WAIT
                }
            };
            tokio::select! {
                () = server.stopping.cancelled() => return,
                () = notifications.changed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

impl Inner {
    /// Delivers what can be delivered now, and returns how long there is nothing to do.
    async fn deliver_all(&self, notifications: &Notifications) -> Result<Duration, StoreError> {
        let store = &self.settings.store;
        let owner = format!("{:032x}", fastrand::u128(..));
        if let Claim::Busy { .. } = store.claim(CLAIM, &owner).await? {
            return Ok(RETRY_WAIT);
        }
        let _claim = ClaimGuard {
            server: self,
            owner: &owner,
        };
        if let Err(refusal) = self.watch(notifications).await {
            let (thread, problem) = ("", refusal.text());
            self.notify(Notice::NotNotified { thread, problem });
        }
        let records = self.records(PREFIX).await?;
        let deliveries = stream::iter(records);
        let deliveries = deliveries.map(|id| async move { self.deliver(notifications, &id).await });
        let waits = deliveries.buffer_unordered(CONCURRENT);
        Ok(waits
            .fold(MAX_WAIT, |least: Duration, wait| {
                future::ready(least.min(wait))
            })
            .await)
    }

    /// Delivers the notification of one record, and returns how long there is nothing to do for it.
    async fn deliver(&self, notifications: &Notifications, id: &str) -> Duration {
        if let Some(at) = notifications.next_attempt(id) {
            return at.saturating_duration_since(Instant::now());
        }
        match self.try_deliver(notifications, id).await {
            Ok(()) => MAX_WAIT,
            Err((thread, problem)) => {
                let (thread, problem) = (&*thread, &*problem);
                self.notify(Notice::NotNotified { thread, problem });
                notifications.failed(id)
            }
        }
    }

    /// An error is the thread, and the problem.
    async fn try_deliver(
        &self,
        notifications: &Notifications,
        id: &str,
    ) -> Result<(), (String, String)> {
        let outbox = &notifications.outbox;
        let failed = |thread: &str, problem: &dyn std::fmt::Display| {
            (thread.to_string(), problem.to_string())
        };
        let record = outbox.read(id).await.map_err(|error| failed("", &error))?;
        let Some(record) = record else {
            return Ok(());
        };
        let thread = &*record.thread;
        let Some(notification) = &record.notification else {
            let settled = self.settle_left(notifications, id, &record).await;
            return settled.map_err(|refusal| failed(thread, &refusal.text()));
        };
        let notified = notifications.notifier.notify(notification).await;
        notified.map_err(|error| failed(thread, &error))?;
        // Before the record is gone: otherwise it would be told of as a change of another process.
        let told = notifications.told.add(notification).await;
        told.map_err(|refusal| failed(thread, &refusal.text()))?;
        let deleted = outbox.delete(id).await;
        deleted.map_err(|error| failed(thread, &error))?;
        notifications.delivered(id);
        Ok(())
    }

    /// Settles a record that a process has left, if its run has ended.
    async fn settle_left(
        &self,
        notifications: &Notifications,
        id: &str,
        record: &Stored,
    ) -> Result<(), Refusal> {
        if self.is_running(&record.thread) {
            return Ok(());
        }
        let info = self.info(&record.thread).await?;
        if mark(info.as_ref()) == record.before {
            // The run has not begun. If it has not after a long time, its process was killed.
            let now_ms = self.settings.store.now_ms().await?;
            if now_ms > record.created_ms.saturating_add(BEGIN_MS) {
                notifications.outbox.delete(id).await?;
            }
            return Ok(());
        }
        if info.is_some_and(|info| info.status == ThreadStatus::Running) {
            return Ok(());
        }
        self.settle(notifications, &record.thread, None).await?;
        notifications.changed.notify_one();
        Ok(())
    }
}

/// The claim of a process that delivers.
struct ClaimGuard<'a> {
    server: &'a Inner,
    owner: &'a str,
}

impl Drop for ClaimGuard<'_> {
    fn drop(&mut self) {
        self.server.settings.store.release(CLAIM, self.owner);
    }
}
