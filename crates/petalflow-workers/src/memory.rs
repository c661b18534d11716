//! A backend in the memory of this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petalflow::async_trait;
use tokio::sync::Notify;

use crate::{Backend, BackendError, Mailbox, TaskReport};

/// A backend in memory, for tests and for several workers in one process. Clones share the mailboxes.
///
/// ```
/// use petalflow_workers::{Backend, InMemoryBackend, Mailbox, TaskReport};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow_workers::BackendError> {
/// let backend = InMemoryBackend::new();
/// let mailbox = Mailbox::new("crawl-1", 1);
/// backend.send(&mailbox, TaskReport::new(0, Ok(vec![1]))).await?;
/// backend.send(&mailbox, TaskReport::new(0, Ok(vec![2]))).await?;
/// assert_eq!(backend.receive(&mailbox, None).await?, [TaskReport::new(0, Ok(vec![1]))]);
/// backend.clear("crawl-1").await?;
/// assert!(backend.receive(&mailbox, None).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemoryBackend(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    mailboxes: Mutex<Mailboxes>,
    /// Notified of every change.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Mailboxes {
    reports: BTreeMap<Mailbox, BTreeMap<usize, Result<Vec<u8>, String>>>,
    is_closed: bool,
}

impl InMemoryBackend {
    /// Creates an empty backend.
    pub fn new() -> Self {
        InMemoryBackend::default()
    }

    fn lock(&self) -> Result<MutexGuard<'_, Mailboxes>, BackendError> {
        let mailboxes = self.0.mailboxes.lock();
        let mailboxes = mailboxes.unwrap_or_else(PoisonError::into_inner);
        if mailboxes.is_closed {
            return Err(BackendError::Closed);
        }
        Ok(mailboxes)
    }

    fn reports(&self, from: &Mailbox) -> Result<Vec<TaskReport>, BackendError> {
        let mailboxes = self.lock()?;
        let reports = mailboxes.reports.get(from).into_iter().flatten();
        let report =
            |(task, result): (&usize, &Result<_, _>)| TaskReport::new(*task, result.clone());
        Ok(reports.map(report).collect())
    }
}

#[async_trait]
impl Backend for InMemoryBackend {
    async fn send(&self, to: &Mailbox, report: TaskReport) -> Result<(), BackendError> {
        let TaskReport { task, result } = report;
        let mut mailboxes = self.lock()?;
        let stored = mailboxes.reports.entry(to.clone()).or_default();
        if stored
            .get(&task)
            .is_none_or(|first| first.is_err() && result.is_ok())
        {
            stored.insert(task, result);
        }
        drop(mailboxes);
        self.0.changed.notify_waiters();
        Ok(())
    }

    async fn receive(
        &self,
        from: &Mailbox,
        known_results: Option<usize>,
    ) -> Result<Vec<TaskReport>, BackendError> {
        loop {
            // Subscribe before reading the mailbox, so that no change in between is missed.
            let changed = self.0.changed.notified();
            let reports = self.reports(from)?;
            let results = reports
                .iter()
                .filter(|report| report.result.is_ok())
                .count();
            if known_results
                .is_none_or(|known_results| results > known_results || results < reports.len())
            {
                return Ok(reports);
            }
            changed.await;
        }
    }

    async fn clear(&self, run: &str) -> Result<(), BackendError> {
        self.lock()?.reports.retain(|mailbox, _| mailbox.run != run);
        Ok(())
    }

    async fn close(&self) -> Result<(), BackendError> {
        if let Ok(mut mailboxes) = self.lock() {
            mailboxes.is_closed = true;
        }
        self.0.changed.notify_waiters();
        Ok(())
    }
}
