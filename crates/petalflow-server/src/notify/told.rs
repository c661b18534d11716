//! What the store keeps so that each change of a thread is told once: what was told last of a thread, and since when the threads of a
//! flow are looked at.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use petalflow::checkpoint::{Store, ThreadInfo};
use petalflow::prelude::*;

use super::notification::Notification;
use crate::definitions::{Definitions, Stored, keep};
use crate::digest::digest;
use crate::refusal::Refusal;
use crate::repeated::Repeated;

flow!(ToldThread(Stored) { keep });
flow!(WatchedFlow(Stored) { keep });

/// How often the threads are looked at.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);
/// How long a change may take to be listed: clocks differ, and what was told is kept for as long.
const MARGIN_MS: u64 = 120_000;

/// The changes that were told.
pub(crate) struct Told {
    threads: Definitions<ToldThread>,
    flows: Definitions<WatchedFlow>,
    /// Those that this process knows, by thread.
    known: Mutex<HashMap<String, String>>,
    pub(crate) watch: Repeated,
}

impl Told {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        Told {
            threads: Definitions::new(ToldThread::new(), "petalflow.told:", store),
            flows: Definitions::new(WatchedFlow::new(), "petalflow.watched:", store),
            known: Mutex::default(),
            watch: Repeated::every(WATCH_INTERVAL),
        }
    }

    /// Notes that a notification was delivered.
    pub(crate) async fn add(&self, notification: &Notification) -> Result<(), Refusal> {
        let status = notification.data["status"].as_str().unwrap_or_default();
        let change = change(notification.at_ms, status);
        let thread = &notification.thread;
        self.threads.set(&digest(thread), &change).await?;
        self.know(thread, change);
        Ok(())
    }

    /// Whether what is listed of a thread was told.
    pub(crate) async fn has(&self, info: &ThreadInfo) -> Result<bool, Refusal> {
        let change = change(info.updated_ms, info.status.as_str());
        let is_known = |known: &HashMap<_, _>| known.get(&info.id) == Some(&change);
        if self.with_known(|known| is_known(known)) {
            return Ok(true);
        }
        let told: Option<String> = self.threads.find(&digest(&info.id)).await?;
        let is_told = told.as_ref() == Some(&change);
        if is_told {
            self.know(&info.id, change);
        }
        Ok(is_told)
    }

    /// Since when changes of the threads of a flow are told, in milliseconds since 1970 (UTC): since a server with a notifier has first
    /// served it.
    pub(crate) async fn since_ms(&self, flow: &str, now_ms: u64) -> Result<u64, Refusal> {
        if let Some(since_ms) = self.flows.find(flow).await? {
            return Ok(since_ms);
        }
        self.flows.set(flow, &now_ms).await?;
        Ok(now_ms)
    }

    /// Notes that the changes of the threads of a flow up to now are told or stored.
    pub(crate) async fn set_since(
        &self,
        flow: &str,
        since_ms: u64,
        now_ms: u64,
    ) -> Result<(), Refusal> {
        let next_ms = now_ms.saturating_sub(MARGIN_MS);
        // Not each time: it is a write.
        if since_ms.saturating_add(MARGIN_MS / 2) < next_ms {
            self.flows.set(flow, &next_ms).await?;
        }
        Ok(())
    }

    /// Forgets what was told of changes that nobody looks at any more.
    pub(crate) async fn forget(&self, oldest_ms: u64) -> Result<(), Refusal> {
        let before_ms = oldest_ms.saturating_sub(MARGIN_MS);
        let forgotten = self.threads.delete_before(before_ms).await?;
        self.with_known(|known| known.retain(|thread, _| !forgotten.contains(&digest(thread))));
        Ok(())
    }

    fn know(&self, thread: &str, change: String) {
        self.with_known(|known| known.insert(thread.to_string(), change));
    }

    fn with_known<T>(&self, work: impl FnOnce(&mut HashMap<String, String>) -> T) -> T {
        work(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A change of a thread: when, and to which status.
fn change(updated_ms: u64, status: &str) -> String {
    format!("{updated_ms} {status}")
}
