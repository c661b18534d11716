//! The server: threads that requests start, their runs, and shutdown.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::StreamExt;
use petalflow::checkpoint::{Store as _, StoreError, ThreadInfo, ThreadQuery};
use petalflow::run::CancelToken;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Notice;
use crate::bulk;
use crate::hook::Hook;
#[cfg(feature = "agent")]
use crate::partial_outputs::OutputReader;
use crate::refusal::Refusal;
use crate::running::{Pieces, Running};
use crate::served::{Facts, ReadThreads, RunEvents, ServedThreads, StoredFlow, no_thread};
use crate::settings::Settings;
#[cfg(feature = "protocol")]
use crate::turn_parts::Live;

/// The number of threads in one query of the store.
pub(crate) const PAGE: usize = 256;

/// What the ids of the server's own threads begin with, such as those of schedules.
pub(crate) const OWN_THREADS: &str = "petalflow.";

/// The flow of a thread.
enum Owner {
    Served(Arc<dyn ServedThreads>),
    /// It can only be read.
    Stored(Box<StoredFlow>),
}

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
/// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
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
    /// The runs of this process, by thread. The first has the thread; the others wait for it.
    running: Mutex<HashMap<String, Vec<Running>>>,
    /// The threads with messages that this process has queued.
    queued: Mutex<HashSet<String>>,
    /// The threads that work and ask, as runs of this process have told.
    asking: Mutex<HashSet<String>>,
    tasks: TaskTracker,
    pub(crate) runs: Arc<Semaphore>,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) streams: Arc<Semaphore>,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: crate::metrics::Metrics,
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
        #[cfg(feature = "metrics")]
        let metrics = crate::metrics::Metrics::new(&settings.models);
        let semaphore =
            |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        let inner = Arc::new(Inner {
            settings,
            running: Mutex::default(),
            queued: Mutex::default(),
            asking: Mutex::default(),
            tasks: TaskTracker::new(),
            runs: semaphore(limits.max_runs),
            requests: semaphore(limits.max_requests),
            streams: semaphore(limits.max_streams),
            #[cfg(feature = "metrics")]
            metrics,
            stopping: CancellationToken::new(),
        });
        let weak = Arc::downgrade(&inner);
        inner.settings.bulk.server.set(weak);
        Server { inner }
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
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
    /// assert_eq!(server.paths(), ["/workflows/orders/webhooks/incoming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn paths(&self) -> Vec<String> {
        let hooks = self.inner.settings.hooks.iter();
        hooks.map(Hook::path).collect()
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
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
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

    /// The flow with this name.
    pub(crate) fn flow(&self, name: &str) -> Result<&Arc<dyn ServedThreads>, Refusal> {
        let flow = self
            .settings
            .flows
            .iter()
            .find(|flow| flow.facts().name == name);
        flow.ok_or_else(|| match self.hooks_of(name).next() {
            Some(hook) => Refusal::forbidden(format!(
                "requests to `{}` start the threads of `{name}`",
                hook.path()
            )),
            None => Refusal::not_found(format!("there is no flow `{name}`")),
        })
    }

    /// The triggers of the graph with this name.
    pub(crate) fn hooks_of(&self, name: &str) -> impl Iterator<Item = &Hook> {
        let hooks = self.settings.hooks.iter();
        hooks.filter(move |hook| hook.workflow == name)
    }

    /// The flow with this name, also one that only webhooks start.
    pub(crate) fn shown_flow(&self, name: &str) -> Result<&dyn ReadThreads, Refusal> {
        match (self.flow(name), self.hooks_of(name).next()) {
            (Err(_), Some(hook)) => Ok(&*hook.threads),
            (flow, _) => Ok(&**flow?),
        }
    }

    /// The flows that only webhooks start, each once.
    pub(crate) fn hook_flows(&self) -> impl Iterator<Item = &Hook> {
        let is_first = |hook: &&Hook| {
            let first = self.hooks_of(&hook.workflow).next();
            first.is_some_and(|first| first.trigger == hook.trigger)
        };
        let hooks = self.settings.hooks.iter().filter(is_first);
        hooks.filter(|hook| self.flow(&hook.workflow).is_err())
    }

    /// The flow of a thread, to read it: also that of a program that is not here.
    pub(crate) async fn reader(&self, thread: &str) -> Result<Arc<dyn ReadThreads>, Refusal> {
        match self.find_owner(thread).await? {
            Owner::Served(flow) => Ok(flow),
            Owner::Stored(flow) => Ok(Arc::from(flow as Box<dyn ReadThreads>)),
        }
    }

    /// The flow of a thread, to change it.
    pub(crate) async fn owner(&self, thread: &str) -> Result<Arc<dyn ServedThreads>, Refusal> {
        match self.find_owner(thread).await? {
            Owner::Served(flow) => Ok(flow),
            Owner::Stored(flow) => Err(Refusal::forbidden(format!(
                "the threads of `{}` can only be read: the program with the types of the flow is not here",
                flow.stored_name()
            ))),
        }
    }

    /// The flow of a thread: the trigger or the flow that gave it its id, or the flow with which a program itself has
    /// started it.
    async fn find_owner(&self, thread: &str) -> Result<Owner, Refusal> {
        if let Some(hook) = self.settings.hooks.iter().find(|hook| hook.owns(thread)) {
            let threads = Arc::clone(&hook.threads);
            return Ok(Owner::Served(threads));
        }
        if thread.starts_with(bulk::PREFIX) {
            let threads = Arc::clone(&self.settings.bulk.threads);
            return Ok(Owner::Served(threads));
        }
        let flows = &self.settings.flows;
        let named = |flow: &&Arc<dyn ServedThreads>| thread.starts_with(&prefix(flow.facts()));
        if let Some(flow) = flows.iter().find(named) {
            return Ok(Owner::Served(Arc::clone(flow)));
        }
        let info = self.info(thread).await?.ok_or_else(no_thread)?;
        let named = flows.iter().find(|flow| flow.stored_name() == info.flow);
        match (named, &self.settings.stored) {
            (Some(flow), _) => Ok(Owner::Served(Arc::clone(flow))),
            (None, Some(stored)) => {
                let flow = StoredFlow::new(&info.flow, stored);
                Ok(Owner::Stored(Box::new(flow)))
            }
            (None, None) => Err(no_thread()),
        }
    }

    /// The name of the flow that is part of the id of a thread. [`OTHER`](crate::metrics::OTHER) for a thread that the program has begun
    /// with another id.
    #[cfg(feature = "metrics")]
    fn flow_named_by(&self, thread: &str) -> String {
        let hook = self.settings.hooks.iter().find(|hook| hook.owns(thread));
        let mut flows = self.settings.flows.iter().map(|flow| flow.facts());
        let flow = flows.find(|facts| thread.starts_with(&prefix(facts)));
        let name = hook.map(|hook| &*hook.workflow);
        let name = name.or_else(|| flow.map(|facts| &*facts.name));
        name.unwrap_or(crate::metrics::OTHER).to_string()
    }

    /// The status of a thread, if the store says it.
    #[cfg(feature = "metrics")]
    async fn status_of(&self, thread: &str) -> Option<petalflow::checkpoint::ThreadStatus> {
        Some(self.info(thread).await.ok()??.status)
    }

    /// The name of the flow of a listed thread. `None` if the server does not serve it.
    pub(crate) fn flow_of(&self, info: &ThreadInfo) -> Option<String> {
        if let Some(hook) = self.settings.hooks.iter().find(|hook| hook.owns(&info.id)) {
            return Some(hook.workflow.clone());
        }
        let mut flows = self
            .settings
            .flows
            .iter()
            .map(|flow| (flow.facts(), flow.stored_name()));
        let of_id = |flow: &(&Facts, &str)| info.id.starts_with(&prefix(flow.0));
        let of_name = |flow: &(&Facts, &str)| flow.1 == info.flow;
        let flow = flows.clone().find(of_id).or_else(|| flows.find(of_name));
        let flow = flow.map(|(facts, _)| facts.name.clone());
        let is_shown = self.settings.stored.is_some() && !info.id.starts_with(OWN_THREADS);
        flow.or_else(|| is_shown.then(|| info.flow.clone()))
    }

    /// Whether the name can only be that of a flow of another program.
    pub(crate) fn is_stored(&self, flow: &str) -> bool {
        self.settings.stored.is_some() && self.shown_flow(flow).is_err()
    }

    /// The flows of other programs that have threads in the store.
    pub(crate) async fn stored_flows(&self) -> Result<Vec<StoredFlow>, StoreError> {
        let Some(stored) = &self.settings.stored else {
            return Ok(Vec::new());
        };
        let counts = self.counts(ThreadQuery::default()).await?;
        let names: BTreeSet<String> = counts.into_iter().map(|count| count.flow).collect();
        let served = |name: &String| self.shown_flow(name).is_ok();
        let names = names.iter().filter(|name| !served(name));
        Ok(names.map(|name| StoredFlow::new(name, stored)).collect())
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

    /// Fails while the server stops.
    pub(crate) fn must_accept(&self) -> Result<(), Refusal> {
        if self.is_stopping() {
            return Err(Refusal::busy("the server stops"));
        }
        Ok(())
    }

    /// The permission to run one more run.
    pub(crate) fn acquire_run(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        self.must_accept()?;
        let permit = Arc::clone(&self.runs).try_acquire_owned();
        permit.map_err(|_| Refusal::too_many_runs())
    }

    /// The permission to run a thread once more. If a run of this process has the thread, it is that of this run: an answer is given to
    /// the run, and what follows comes after it.
    fn acquire_run_of(&self, thread: &str) -> Result<Arc<OwnedSemaphorePermit>, Refusal> {
        let running = self.running();
        let permit = running.get(thread).and_then(|runs| runs.first());
        match permit.filter(|_| !self.is_stopping()) {
            Some(run) => Ok(Arc::clone(&run.permit)),
            None => self.acquire_run().map(Arc::new),
        }
    }

    /// Runs a future in a task of its own.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Runs a future to its end in a task of its own, also if its caller is dropped.
    pub(crate) async fn run_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> Result<T, Refusal> {
        match self.tasks.spawn(work).await {
            Ok(result) => result,
            Err(_) => Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the request could not be handled",
            )),
        }
    }

    /// Begins a run with a token of its own, and drives it. `begin` stores what starts it.
    pub(crate) async fn begin<B>(
        self: &Arc<Self>,
        thread: String,
        begin: impl FnOnce(CancelToken) -> B,
    ) -> Result<(), Refusal>
    where
        B: Future<Output = Result<RunEvents, Refusal>>,
    {
        let permit = self.acquire_run_of(&thread)?;
        let token = self.settings.stop.child();
        let told = self.expect_end(&thread).await?;
        let run = match begin(token.clone()).await {
            Ok(run) => run,
            Err(refusal) => {
                self.expect_nothing(told).await;
                return Err(refusal);
            }
        };
        let drive = Drive {
            token,
            permit,
            pieces: Pieces::Live,
            told,
        };
        self.drive(thread, run, drive);
        Ok(())
    }

    /// Drives a run in a task of its own.
    pub(crate) fn drive(self: &Arc<Self>, thread: String, mut run: RunEvents, drive: Drive) {
        let Drive {
            token,
            permit,
            pieces,
            told,
        } = drive;
        let running = Running::new(token, permit, pieces);
        let sender = running.ended.clone();
        #[cfg(feature = "protocol")]
        let live = running.live.clone();
        #[cfg(feature = "agent")]
        let outputs = Arc::clone(&running.outputs);
        let mut all = self.running();
        all.entry(thread.clone()).or_default().push(running);
        drop(all);
        let server = Arc::clone(self);
        self.tasks.spawn(async move {
            let guard = RunGuard {
                server,
                thread,
                sender,
            };
            let (server, thread) = (&guard.server, &*guard.thread);
            #[cfg(feature = "metrics")]
            let mut measured = server.metrics.run(server.flow_named_by(thread));
            while let Some(event) = run.next().await {
                #[cfg(feature = "metrics")]
                if let Some(node) = &event.node {
                    measured.node(node);
                }
                #[cfg(feature = "protocol")]
                if let (Some(live), Some(event)) = (&live, event.live) {
                    live.add(event);
                }
                if event.asks {
                    server.run_asks(thread);
                }
                #[cfg(feature = "agent")]
                if let Some(change) = event.output {
                    outputs.add(change);
                }
                if let Some(error) = event.failure.as_deref() {
                    server.notify(Notice::Failed { thread, error });
                }
            }
            // Release the thread before anyone learns that the run has ended.
            drop(run);
            #[cfg(feature = "metrics")]
            measured.ended(server.status_of(thread).await);
            server.tell_end(thread, told.as_deref()).await;
            server.notify(Notice::Ended { thread });
            let (server, thread) = (Arc::clone(server), guard.thread.clone());
            // Before it looks for messages: who queues one looks itself if no run is here.
            drop(guard);
            server.run_asks_no_more(&thread);
            server.run_has_ended(&thread);
        });
    }

    /// Whether a run of this process has the thread.
    pub(crate) fn is_running(&self, thread: &str) -> bool {
        self.running().contains_key(thread)
    }

    /// Whether no other run of this process waits for the run that has the thread.
    pub(crate) fn is_last_run(&self, thread: &str) -> bool {
        self.running()
            .get(thread)
            .is_none_or(|runs| runs.len() <= 1)
    }

    /// A channel that closes when the run of a thread in this process ends, with what follows it.
    pub(crate) fn subscribe(&self, thread: &str) -> Option<broadcast::Receiver<()>> {
        let running = self.running();
        let newest = running.get(thread)?.last()?;
        Some(newest.ended.subscribe())
    }

    /// The pieces of answers of the run of a thread in this process, before the log has them.
    #[cfg(feature = "protocol")]
    pub(crate) fn live(&self, thread: &str) -> Option<Arc<Live>> {
        self.running().get(thread)?.first()?.live.clone()
    }

    /// The typed answers that models write in the run of a thread in this process.
    #[cfg(feature = "agent")]
    pub(crate) fn partial_outputs(&self, thread: &str) -> Option<OutputReader> {
        Some(self.running().get(thread)?.first()?.outputs.reader())
    }

    /// Cancels the run of a thread. Returns whether a run of this process has it.
    pub(crate) fn cancel(&self, thread: &str) -> bool {
        let running = self.running();
        let Some(runs) = running.get(thread) else {
            return false;
        };
        // Those that wait for the thread would continue it.
        runs.iter().rev().for_each(|run| run.token.cancel());
        true
    }

    /// The threads with messages that this process has queued.
    pub(crate) fn queued(&self) -> MutexGuard<'_, HashSet<String>> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The threads that work and ask, as runs of this process have told.
    pub(crate) fn asking(&self) -> MutexGuard<'_, HashSet<String>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Vec<Running>>> {
        // No code that can panic runs while it is locked.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the ids of all threads that a server starts for a flow begin with.
pub(crate) fn prefix(flow: &Facts) -> String {
    format!("{}:", flow.name)
}

/// How a run is driven.
pub(crate) struct Drive {
    /// Stops the run.
    pub(crate) token: CancelToken,
    pub(crate) permit: Arc<OwnedSemaphorePermit>,
    pub(crate) pieces: Pieces,
    /// The record of the notification of its end.
    pub(crate) told: Option<String>,
}

/// Removes a run from `running` when it ends, also if a listener panics.
struct RunGuard {
    server: Arc<Inner>,
    thread: String,
    sender: broadcast::Sender<()>,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let mut running = self.server.running();
        let Some(runs) = running.get_mut(&self.thread) else {
            return;
        };
        runs.retain(|run| !run.ended.same_channel(&self.sender));
        if runs.is_empty() {
            running.remove(&self.thread);
        }
    }
}
