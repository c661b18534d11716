//! The ends of runs that are to be told of: before a run begins, and when it has ended.

use std::sync::Arc;

use petalflow::checkpoint::{Store as _, StoreError, ThreadQuery, ThreadStatus};
use serde_json::{Value, json};

use crate::Notice;
use crate::notify::{Notification, NotificationKind, Notifications, mark, prefix};
use crate::refusal::Refusal;
use crate::served::ReadThreads;
use crate::server::Inner;

/// The keys of a view that a receiver is told.
const TOLD: [&str; 6] = ["flow", "status", "labels", "checkpoint", "waits", "errors"];

impl Inner {
    /// Stores that the end of the run that begins now is to be told of. Returns the record, if the server has a notifier.
    pub(crate) async fn expect_end(&self, thread: &str) -> Result<Option<String>, Refusal> {
        let Some(notifications) = &self.settings.notifications else {
            return Ok(None);
        };
        let info = self.info(thread).await?;
        let runs = info
            .as_ref()
            .is_some_and(|it| it.status == ThreadStatus::Running);
        if !runs {
            // An earlier end that was not told is what the thread is at now.
            self.settle(notifications, thread, None).await?;
        }
        let added = notifications.outbox.add(thread, mark(info.as_ref())).await;
        added
            .map(Some)
            .map_err(|error| Refusal::busy(format!("the notification cannot be stored: {error}")))
    }

    /// Removes the record of a run that has not begun.
    pub(crate) async fn expect_nothing(&self, record: Option<String>) {
        if let (Some(notifications), Some(record)) = (&self.settings.notifications, record) {
            // Without it, the delivery finds that the run has not begun.
            let _ = notifications.outbox.delete(&record).await;
        }
    }

    /// Stores what is to be told of a run that has ended, which has this record. If the store fails, the delivery tries again.
    pub(crate) async fn tell_end(&self, thread: &str, record: Option<&str>) {
        let (Some(notifications), Some(record)) = (&self.settings.notifications, record) else {
            return;
        };
        // A run that waits for this one continues the thread.
        if !self.is_last_run(thread) {
            return;
        }
        if let Err(refusal) = self.settle(notifications, thread, Some(record)).await {
            let problem = refusal.text();
            self.notify(Notice::NotNotified { thread, problem });
        }
        notifications.changed.notify_one();
    }

    /// Gives the records of ended runs of a thread the notification: the first of them gets it, and the others are not needed. While a
    /// run has the thread, they stay as they are, and so do those of runs that have not begun yet. `ended`: the record of a run that has
    /// ended for certain.
    pub(super) async fn settle(
        &self,
        notifications: &Notifications,
        thread: &str,
        ended: Option<&str>,
    ) -> Result<(), Refusal> {
        let outbox = &notifications.outbox;
        let now = mark(self.info(thread).await?.as_ref());
        let mut open = Vec::new();
        for id in self.records(&prefix(thread)).await? {
            if let Some(record) = outbox.read(&id).await?
                && record.notification.is_none()
                && record.thread == thread
                && (record.before != now || ended == Some(&*id))
            {
                open.push(id);
            }
        }
        let Some((first, rest)) = open.split_first() else {
            return Ok(());
        };
        let view = self.view_of(thread).await?.unwrap_or_default();
        if view["status"] == ThreadStatus::Running.as_str() {
            return Ok(());
        }
        match notification(first, thread, &view) {
            Some(notification) => outbox.set(first, &notification).await?,
            None => outbox.delete(first).await?,
        }
        for record in rest {
            outbox.delete(record).await?;
        }
        Ok(())
    }

    async fn view_of(&self, thread: &str) -> Result<Option<Value>, Refusal> {
        if self.info(thread).await?.is_none() {
            return Ok(None);
        }
        let flow: Arc<dyn ReadThreads> = self.reader(thread).await?;
        flow.view(thread, None).await
    }

    /// The ids of the records that begin with this text.
    pub(super) async fn records(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let query = ThreadQuery {
            prefix,
            ..ThreadQuery::default()
        };
        let found = self.settings.store.threads(query).await?;
        Ok(found.into_iter().map(|info| info.id).collect())
    }
}

/// What a receiver is told of a thread that has this view. `None` if it is not told of this status.
fn notification(record: &str, thread: &str, view: &Value) -> Option<Notification> {
    let kind = match ThreadStatus::named(view["status"].as_str()?)? {
        ThreadStatus::Waiting => NotificationKind::Waiting,
        ThreadStatus::Finished => NotificationKind::Finished,
        ThreadStatus::Failed => NotificationKind::Failed,
        _ => return None,
    };
    let (_, id) = record.rsplit_once(':')?;
    let mut data = json!({ "thread": thread });
    for name in TOLD {
        data[name] = view[name].clone();
    }
    Some(Notification {
        id: format!("msg_{id}"),
        kind,
        thread: thread.to_string(),
        at_ms: view["updated_ms"].as_u64().unwrap_or(0),
        data,
    })
}
