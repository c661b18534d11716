//! Continues the threads that an earlier process has left, and those whose time has come.

use std::collections::HashSet;
use std::sync::Arc;

use petalflow::checkpoint::{Store as _, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::thread::ThreadError;

use crate::Notice;
use crate::bulk;
use crate::running::Pieces;
use crate::served::ServedThreads;
use crate::server::{Drive, PAGE, Server, prefix};

impl Server {
    /// Continues the threads that an earlier process has left, and those that are due: whose questions have expired, or that
    /// have slept. Returns how many. Their
    /// runs continue in the background. While [`max_runs`](crate::Limits::max_runs) runs are in progress, it waits.
    ///
    /// It deletes the finished threads that are not [kept](crate::ServerBuilder::thread_retention), at most once in a minute.
    ///
    /// [`serve`](Self::serve) calls it. Call it at the start of a server of your own, and from time to time, because another
    /// machine may have failed. A thread that is running, here or in another process, is not changed. Nor is a thread that a person
    /// [holds](ThreadStatus::Held), because it was cancelled, edited or forked.
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
    /// assert_eq!(server.recover().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the threads cannot be listed. A thread that cannot be continued is a [`Notice`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the rest of the threads as they are.
    pub async fn recover(&self) -> Result<usize, ThreadError> {
        self.inner().settings.keys.sweep().await?;
        let mut recovered = 0;
        for (prefix, threads) in self.recoverable() {
            // Interrupted by a crash, or stopped by a shutdown. A thread that a person holds has another status.
            for status in [ThreadStatus::Running, ThreadStatus::Stopped] {
                let query = ThreadQuery {
                    status: Some(status),
                    ..ThreadQuery::default()
                };
                let mut none = HashSet::new();
                recovered += self.recover_all(&prefix, threads, query, &mut none).await?;
            }
        }
        recovered += self.recover_due(&mut HashSet::new()).await?;
        self.begin_queued().await?;
        if let Err(refusal) = self.inner().delete_unkept().await {
            let problem = refusal.text();
            self.inner().notify(Notice::NotDeleted { problem });
        }
        Ok(recovered)
    }

    /// Continues the threads that are due: whose questions have expired, or that have slept. Returns how many. Those that cannot be
    /// continued are added to `refused`, and are not tried again.
    pub(crate) async fn recover_due(
        &self,
        refused: &mut HashSet<String>,
    ) -> Result<usize, ThreadError> {
        let store = &self.inner().settings.store;
        let query = ThreadQuery {
            due_by_ms: Some(store.now_ms().await?),
            ..ThreadQuery::default()
        };
        let one = ThreadQuery {
            limit: Some(1),
            ..query
        };
        if store.threads(one).await?.is_empty() {
            return Ok(0);
        }
        let mut recovered = 0;
        for (prefix, threads) in self.recoverable() {
            recovered += self.recover_all(&prefix, threads, query, refused).await?;
        }
        Ok(recovered)
    }

    /// What this server continues, with the prefix of its threads. An engine continues its threads itself.
    fn recoverable(&self) -> impl Iterator<Item = (String, &dyn ServedThreads)> {
        let settings = &self.inner().settings;
        let hooks = settings.hooks.iter().map(|hook| {
            let threads: &dyn ServedThreads = &*hook.threads;
            (hook.prefix(), threads)
        });
        let flows = settings.flows.iter();
        let flows = flows.filter(|flow| flow.elsewhere().is_none());
        let flows = flows.map(|flow| (prefix(flow.facts()), &**flow));
        let bulk = (bulk::PREFIX.to_string(), &*settings.bulk.threads);
        hooks.chain(flows).chain([bulk])
    }

    /// Continues the threads of a flow that the query covers, page by page.
    async fn recover_all(
        &self,
        prefix: &str,
        flow: &dyn ServedThreads,
        query: ThreadQuery<'_>,
        refused: &mut HashSet<String>,
    ) -> Result<usize, ThreadError> {
        let settings = &self.inner().settings;
        let mut after: Option<String> = None;
        let mut recovered = 0;
        loop {
            let page = ThreadQuery {
                prefix,
                after: after.as_deref(),
                limit: Some(PAGE),
                ..query
            };
            let threads = settings.store.threads(page).await?;
            let Some(last) = threads.last() else {
                return Ok(recovered);
            };
            after = Some(last.id.clone());
            for info in threads {
                // The name of a graph is also the start of the ids that its triggers give.
                let owner = settings.hooks.iter().find(|hook| hook.owns(&info.id));
                let is_mine = owner.is_none_or(|hook| hook.prefix() == prefix);
                if !is_mine || refused.contains(&info.id) || self.inner().is_running(&info.id) {
                    continue;
                }
                let id = info.id.clone();
                if self.recover_one(flow, info).await {
                    recovered += 1;
                } else {
                    refused.insert(id);
                }
            }
        }
    }

    async fn recover_one(&self, flow: &dyn ServedThreads, info: ThreadInfo) -> bool {
        let inner = self.inner();
        if let Some(problem) = &info.damage {
            let thread = &*info.id;
            inner.notify(Notice::NotRecovered { thread, problem });
            return false;
        }
        let Ok(permit) = Arc::clone(&inner.runs).acquire_owned().await else {
            return false;
        };
        if inner.is_stopping() || inner.is_running(&info.id) {
            return false;
        }
        let token = inner.settings.stop.child();
        let told = match inner.expect_end(&info.id).await {
            Ok(told) => told,
            Err(refusal) => {
                let (thread, problem) = (&*info.id, refusal.text());
                inner.notify(Notice::NotRecovered { thread, problem });
                return false;
            }
        };
        match flow.recover(&info.id, &token).await {
            Ok(run) => {
                inner.notify(Notice::Recovered { thread: &info.id });
                let drive = Drive {
                    token,
                    permit: Arc::new(permit),
                    pieces: Pieces::FromLog,
                    told,
                };
                inner.drive(info.id, run, drive);
                true
            }
            Err(error) => {
                inner.expect_nothing(told).await;
                // Another process may run it: then it is busy, and not lost. Or a person has held it in the meantime.
                let is_left_alone = |it: &ThreadError| {
                    matches!(it, ThreadError::Busy { .. } | ThreadError::Held { .. })
                };
                if !error.thread_error().is_some_and(is_left_alone) {
                    let (thread, problem) = (&*info.id, &*error.to_string());
                    inner.notify(Notice::NotRecovered { thread, problem });
                }
                false
            }
        }
    }
}
