//! The server: threads that requests start, their runs, recovery and shutdown.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt;
use petalflow::checkpoint::{Store as _, StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::event::EventKind;
use petalflow::thread::ThreadError;
use petalflow_documents::Envelope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Notice;
use crate::hook::{Hook, RunEvents};
use crate::refusal::Refusal;
use crate::settings::Settings;

/// The number of threads in one query of the store.
const PAGE: usize = 256;

/// A server for webhooks. Clones are handles. The [crate](crate) has an example.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
/// use petalflow_server::Server;
///
/// let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
/// let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
/// let server = Server::builder(&InMemoryStore::new()).flow("orders", &flow).build()?;
/// // In a server of your own: `server.router()`.
/// assert_eq!(server.clone().paths(), server.paths());
/// # Ok::<(), petalflow::BoxError>(())
/// ```
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    /// The runs of this process, by thread. Nothing is sent: the channel closes when the run ends.
    running: Mutex<HashMap<String, broadcast::Sender<()>>>,
    tasks: TaskTracker,
    runs: Arc<Semaphore>,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) streams: Arc<Semaphore>,
    /// Cancelled when the server begins to stop.
    pub(crate) stopping: CancellationToken,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.inner.settings.hooks.iter();
        let hooks: Vec<String> = hooks.map(Hook::prefix).collect();
        f.debug_struct("Server")
            .field("hooks", &hooks)
            .field("running", &self.inner.running().len())
            .finish_non_exhaustive()
    }
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Self {
        let limits = settings.limits;
        let semaphore =
            |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Server {
            inner: Arc::new(Inner {
                settings,
                running: Mutex::default(),
                tasks: TaskTracker::new(),
                runs: semaphore(limits.max_runs),
                requests: semaphore(limits.max_requests),
                streams: semaphore(limits.max_streams),
                stopping: CancellationToken::new(),
            }),
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The path of each trigger.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> Result<(), petalflow::BoxError> {
    /// let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).flow("orders", &flow).build()?;
    /// assert_eq!(server.paths(), ["/workflows/orders/webhooks/incoming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn paths(&self) -> Vec<String> {
        let hooks = self.inner.settings.hooks.iter();
        hooks
            .map(|hook| format!("/workflows/{}/webhooks/{}", hook.workflow, hook.trigger))
            .collect()
    }

    /// Continues the threads that an earlier process has left, and those whose questions have expired. Returns how many. Their
    /// runs continue in the background. While [`max_runs`](crate::Limits::max_runs) runs are in progress, it waits.
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
    /// let server = Server::builder(&InMemoryStore::new()).flow("orders", &flow).build()?;
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
        let mut recovered = 0;
        for index in 0..self.inner.settings.hooks.len() {
            for (status, due_by_ms) in [
                // Interrupted by a crash, or stopped by a shutdown. A thread that a person holds has another status.
                (ThreadStatus::Running, None),
                (ThreadStatus::Stopped, None),
                (ThreadStatus::Waiting, Some(now_ms())),
            ] {
                recovered += self.recover_all(index, status, due_by_ms).await?;
            }
        }
        Ok(recovered)
    }

    /// Continues the threads of a trigger that have this status, page by page.
    async fn recover_all(
        &self,
        index: usize,
        status: ThreadStatus,
        due_by_ms: Option<u64>,
    ) -> Result<usize, ThreadError> {
        let hook = &self.inner.settings.hooks[index];
        let prefix = hook.prefix();
        let mut after: Option<String> = None;
        let mut recovered = 0;
        loop {
            let page = ThreadQuery {
                prefix: &prefix,
                after: after.as_deref(),
                limit: Some(PAGE),
                status: Some(status),
                due_by_ms,
                ..ThreadQuery::default()
            };
            let threads = hook.threads.list(page).await?;
            let Some(last) = threads.last() else {
                return Ok(recovered);
            };
            after = Some(last.id.clone());
            for info in threads {
                recovered += usize::from(self.recover_one(index, info).await);
            }
        }
    }

    async fn recover_one(&self, hook: usize, info: ThreadInfo) -> bool {
        let inner = &self.inner;
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
        let threads = &inner.settings.hooks[hook].threads;
        match threads.recover(&info.id).await {
            Ok(run) => {
                inner.notify(Notice::Recovered { thread: &info.id });
                inner.drive(info.id, run, permit);
                true
            }
            Err(error) => {
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

    /// Refuses further requests with 503, stops the runs at their next barriers, and waits for them. After `grace`, nodes that
    /// still run are dropped. The next process continues the threads. [`serve`](Self::serve) calls it.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::Server;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).flow("orders", &flow).build()?;
    /// server.drain(Duration::from_secs(30)).await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo it: the runs stop.
    pub async fn drain(&self, grace: Duration) {
        let inner = &self.inner;
        inner.settings.stop.drain();
        inner.stopping.cancel();
        inner.tasks.close();
        if tokio::time::timeout(grace, inner.tasks.wait())
            .await
            .is_err()
        {
            inner.settings.stop.cancel();
            inner.tasks.wait().await;
        }
    }
}

impl Inner {
    pub(crate) fn hook(&self, workflow: &str, trigger: &str) -> Option<usize> {
        let mut hooks = self.settings.hooks.iter();
        hooks.position(|hook| hook.workflow == workflow && hook.trigger == trigger)
    }

    /// The trigger that has started a thread.
    pub(crate) fn owner(&self, thread: &str) -> Result<&Hook, Refusal> {
        let hook = self.settings.hooks.iter().find(|hook| hook.owns(thread));
        hook.ok_or_else(|| Refusal::not_found("there is no such thread"))
    }

    pub(crate) fn is_stopping(&self) -> bool {
        let stop = &self.settings.stop;
        stop.is_draining() || stop.is_cancelled()
    }

    /// Fails if the store does not answer.
    pub(crate) async fn check_store(&self) -> Result<(), StoreError> {
        let one = ThreadQuery {
            limit: Some(1),
            ..ThreadQuery::default()
        };
        self.settings.store.threads(one).await.map(drop)
    }

    pub(crate) fn notify(&self, notice: Notice<'_>) {
        if let Some(listener) = &self.settings.listener {
            listener(notice);
        }
    }

    /// The permission to run one more run.
    pub(crate) fn acquire_run(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        if self.is_stopping() {
            return Err(Refusal::busy("the server stops"));
        }
        let permit = Arc::clone(&self.runs).try_acquire_owned();
        permit.map_err(|_| Refusal::busy("too many runs are in progress"))
    }

    /// Runs a future to its end in a task of its own, also if its caller is dropped.
    pub(crate) async fn run_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> Result<T, Refusal> {
        match self.tasks.spawn(work).await {
            Ok(result) => result,
            Err(_) => Err(Refusal::new(
                axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                "the request could not be handled",
            )),
        }
    }

    /// Stores an input, and runs the thread.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        hook: usize,
        thread: String,
        input: Envelope,
    ) -> Result<(), Refusal> {
        let permit = self.acquire_run()?;
        let threads = &self.settings.hooks[hook].threads;
        let run = threads.begin(&thread, input).await?;
        self.notify(Notice::Accepted { thread: &thread });
        self.drive(thread, run, permit);
        Ok(())
    }

    /// Drives a run in a task of its own.
    pub(crate) fn drive(
        self: &Arc<Self>,
        thread: String,
        mut run: RunEvents,
        permit: OwnedSemaphorePermit,
    ) {
        let (sender, _) = broadcast::channel(1);
        self.running().insert(thread.clone(), sender.clone());
        let server = Arc::clone(self);
        self.tasks.spawn(async move {
            let guard = RunGuard {
                server,
                thread,
                sender,
                _permit: permit,
            };
            let (server, thread) = (&guard.server, &*guard.thread);
            while let Some(event) = run.next().await {
                if let EventKind::Failed { error } = &event.kind {
                    server.notify(Notice::Failed { thread, error });
                }
            }
            // Release the thread before anyone learns that the run has ended.
            drop(run);
            server.notify(Notice::Ended { thread });
        });
    }

    /// Whether a run of this process has the thread.
    pub(crate) fn is_running(&self, thread: &str) -> bool {
        self.running().contains_key(thread)
    }

    /// A channel that closes when the run of a thread in this process ends.
    pub(crate) fn subscribe(&self, thread: &str) -> Option<broadcast::Receiver<()>> {
        self.running().get(thread).map(broadcast::Sender::subscribe)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, broadcast::Sender<()>>> {
        // No code that can panic runs while it is locked.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a run from `running` when it ends, also if a listener panics.
struct RunGuard {
    server: Arc<Inner>,
    thread: String,
    sender: broadcast::Sender<()>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let mut running = self.server.running();
        // A later run of the thread has a channel of its own.
        let newest = running.get(&self.thread);
        if newest.is_some_and(|newest| newest.same_channel(&self.sender)) {
            running.remove(&self.thread);
        }
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
