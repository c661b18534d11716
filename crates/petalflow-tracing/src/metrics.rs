//! Counts of nodes: those that are active, paused and resuming now, and all that completed and failed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::async_trait;
use tokio::time::Instant;

use petalflow::interrupt::Interrupt;
use petalflow::middleware::{Middleware, Next, NodeCall, RunMiddleware, RunNext};
use petalflow::run::RunErrorKind;
use petalflow::{BoxError, Flow, Launch, RunError, State};

/// Counts of the nodes of all runs that it surrounds: which are active, completed, failed, paused and resuming. Clones share
/// the counts.
///
/// It is [middleware](petalflow::Middleware) of both kinds; [`Launch::measured`](MeasureLaunch::measured) adds both. Memory
/// grows with the number of nodes in the graph, and with the number of threads that wait for a person.
///
/// ```
/// use petalflow_tracing::{MeasureLaunch, Metrics};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let metrics = Metrics::new();
/// let launch = Write::new().measured(&metrics);
/// launch.clone().run(()).await?;
/// launch.run(()).await?;
/// let now = metrics.snapshot();
/// assert_eq!(now.nodes["write"].completed, 2);
/// assert_eq!((now.completed(), now.active()), (vec!["write"], vec![]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    nodes: BTreeMap<String, NodeMetrics>,
    /// The nodes that wait for a person, by thread.
    paused: HashMap<Arc<str>, Vec<String>>,
    /// The number of resets. An attempt or a run that began before the last reset is not counted when it ends.
    resets: u64,
}

/// A copy of the counts of [`Metrics`]: it does not change.
///
/// ```
/// let nothing = petalflow_tracing::Metrics::new().snapshot();
/// assert!(nothing.nodes.is_empty() && nothing.failed().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// The counts, by the name of the node.
    pub nodes: BTreeMap<String, NodeMetrics>,
}

/// The counts of one node.
///
/// ```
/// let none = petalflow_tracing::NodeMetrics::default();
/// assert_eq!((none.active, none.average()), (0, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// Attempts that run now.
    pub active: u64,
    /// Attempts that finished.
    pub completed: u64,
    /// Attempts that failed. A node with retries may have completed later.
    pub failed: u64,
    /// Questions and approvals of the node that wait for a person now.
    pub paused: u64,
    /// Tasks that waited for a person and whose run continues, but that have not started again.
    pub resuming: u64,
    /// The time of all attempts that finished or failed.
    pub took: Duration,
    /// The longest of these attempts.
    pub longest: Duration,
}

impl NodeMetrics {
    /// The average time of an attempt. `None` if none has ended.
    pub fn average(&self) -> Option<Duration> {
        let ended = u32::try_from(self.completed + self.failed).unwrap_or(u32::MAX);
        self.took.checked_div(ended)
    }
}

impl MetricsSnapshot {
    fn names(&self, count: impl Fn(&NodeMetrics) -> u64) -> Vec<&str> {
        let nodes = self.nodes.iter().filter(|(_, node)| count(node) > 0);
        nodes.map(|(name, _)| name.as_str()).collect()
    }

    /// The nodes that run now, sorted.
    pub fn active(&self) -> Vec<&str> {
        self.names(|node| node.active)
    }

    /// The nodes that have finished, sorted.
    pub fn completed(&self) -> Vec<&str> {
        self.names(|node| node.completed)
    }

    /// The nodes with failed attempts, sorted.
    pub fn failed(&self) -> Vec<&str> {
        self.names(|node| node.failed)
    }

    /// The nodes that wait for a person, sorted.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow_tracing::{MeasureLaunch, Metrics};
    /// # use petalflow::interrupt::Ask;
    /// # #[state]
    /// # struct Refund { approved: bool }
    /// # #[derive(serde::Serialize, Ask)]
    /// # #[ask(answer = bool)]
    /// # struct Approve;
    /// # #[node(Refund)]
    /// # async fn approve(cx: Context) -> petalflow::Result<RefundApproved> {
    /// #     Ok(RefundApproved(cx.ask(Approve).await?))
    /// # }
    /// # flow!(Decide(Refund) { approve });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let metrics = Metrics::new();
    /// let store = InMemoryStore::new();
    /// let thread = Decide::new().measured(&metrics).store(&store).thread("order-7");
    /// // The node `approve` asks a person.
    /// let _question = thread.run(()).await?;
    /// assert_eq!(metrics.snapshot().paused(), ["approve"]);
    ///
    /// let refund = thread.answer::<Approve>(true).await?.into_finished()?;
    /// assert!(refund.approved && metrics.snapshot().paused().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn paused(&self) -> Vec<&str> {
        self.names(|node| node.paused)
    }

    /// The nodes whose run continues after a person has answered, and that have not started again, sorted.
    ///
    /// ```
    /// use petalflow_tracing::MetricsSnapshot;
    ///
    /// /// Whether no node runs or is about to run.
    /// fn is_idle(now: &MetricsSnapshot) -> bool {
    ///     now.active().is_empty() && now.resuming().is_empty()
    /// }
    /// assert!(is_idle(&MetricsSnapshot::default()));
    /// ```
    pub fn resuming(&self) -> Vec<&str> {
        self.names(|node| node.resuming)
    }
}

tokio::task_local! {
    /// The run that polls this code.
    static RUN: Arc<MeasuredRun>;
}

/// A run, and its nodes that are resuming.
#[derive(Debug)]
struct MeasuredRun {
    metrics: Metrics,
    resuming: Mutex<Vec<String>>,
    /// The resets when it began.
    resets: u64,
    /// The run, measured by other metrics, around this one.
    outer: Option<Arc<MeasuredRun>>,
}

impl Metrics {
    /// Creates empty metrics.
    pub fn new() -> Self {
        Metrics::default()
    }

    /// Copies the counts.
    pub fn snapshot(&self) -> MetricsSnapshot {
        MetricsSnapshot {
            nodes: self.lock().nodes.clone(),
        }
    }

    /// Sets all counts to 0. What runs or waits now is not counted any more.
    ///
    /// ```
    /// # use petalflow_tracing::Metrics;
    /// let metrics = Metrics::new();
    /// metrics.reset();
    /// assert!(metrics.snapshot().nodes.is_empty());
    /// ```
    pub fn reset(&self) {
        let mut counts = self.lock();
        counts.nodes.clear();
        counts.paused.clear();
        counts.resets += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins. The nodes for which its thread waited are resuming if the run has no input.
    fn begin_run(&self, thread: Option<&str>, resumes: bool) -> Arc<MeasuredRun> {
        let mut counts = self.lock();
        let nodes = thread.and_then(|thread| counts.paused.remove(thread));
        let mut nodes = nodes.unwrap_or_default();
        for node in &nodes {
            let node = counts.node(node);
            node.paused -= 1;
            node.resuming += u64::from(resumes);
        }
        if !resumes {
            nodes.clear();
        }
        Arc::new(MeasuredRun {
            metrics: self.clone(),
            resuming: Mutex::new(nodes),
            resets: counts.resets,
            outer: RUN.try_with(Arc::clone).ok(),
        })
    }

    /// A run waits for a person. It counts at the outermost node, if the person is asked in a sub-flow.
    fn pause(&self, thread: &str, interrupts: &[Interrupt]) {
        let mut counts = self.lock();
        let mut nodes = Vec::new();
        for interrupt in interrupts {
            let outer = interrupt.namespace.split(['/', '[']).next();
            let name = outer.filter(|outer| !outer.is_empty());
            nodes.push(name.unwrap_or(&interrupt.node).to_string());
        }
        for name in &nodes {
            counts.node(name).paused += 1;
        }
        counts.paused.insert(thread.into(), nodes);
    }

    /// An attempt begins: its node is not resuming any more.
    fn begin(&self, name: &str) -> Attempt<'_> {
        let run = RUN.try_with(Arc::clone).ok();
        let is_resuming = run.is_some_and(|run| run.take(self, name));
        let mut counts = self.lock();
        let resets = counts.resets;
        let node = counts.node(name);
        node.active += 1;
        if is_resuming {
            node.resuming -= 1;
        }
        Attempt {
            metrics: self,
            name: name.to_string(),
            resets,
            started: Instant::now(),
            succeeded: None,
        }
    }
}

impl Counts {
    fn node(&mut self, name: &str) -> &mut NodeMetrics {
        self.nodes.entry(name.to_string()).or_default()
    }
}

impl MeasuredRun {
    /// Takes the node out of those that are resuming in the run that these metrics measure. Returns whether it was one.
    fn take(&self, metrics: &Metrics, node: &str) -> bool {
        if !Arc::ptr_eq(&self.metrics.0, &metrics.0) {
            let outer = self.outer.as_ref();
            return outer.is_some_and(|outer| outer.take(metrics, node));
        }
        let mut nodes = self.resuming.lock().unwrap_or_else(PoisonError::into_inner);
        let index = nodes.iter().position(|name| name == node);
        let removed = index.map(|index| nodes.swap_remove(index));
        removed.is_some() && self.resets == metrics.lock().resets
    }
}

impl Drop for MeasuredRun {
    fn drop(&mut self) {
        let nodes = self
            .resuming
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let mut counts = self.metrics.lock();
        if counts.resets == self.resets {
            for node in nodes {
                counts.node(node).resuming -= 1;
            }
        }
    }
}

/// An attempt that runs. It ends when this is dropped.
struct Attempt<'m> {
    metrics: &'m Metrics,
    name: String,
    resets: u64,
    started: Instant,
    /// Whether it finished. `None` if it is dropped before its end.
    succeeded: Option<bool>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut counts = self.metrics.lock();
        if counts.resets != self.resets {
            return;
        }
        let node = counts.node(&self.name);
        node.active -= 1;
        let Some(succeeded) = self.succeeded else {
            return;
        };
        let took = self.started.elapsed();
        node.took += took;
        node.longest = node.longest.max(took);
        node.completed += u64::from(succeeded);
        node.failed += u64::from(!succeeded);
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Metrics {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        let mut attempt = self.begin(call.node());
        let result = next.run(call).await;
        attempt.succeeded = Some(result.is_ok());
        result
    }
}

#[async_trait]
impl<S: State> RunMiddleware<S> for Metrics {
    async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError> {
        let thread = next.thread();
        let run = self.begin_run(thread, input.is_none());
        let result = RUN.scope(run, next.run(input)).await;
        if let Err(error) = &result
            && let RunErrorKind::Interrupted { interrupts } = error.kind()
            && let Some(thread) = thread
        {
            self.pause(thread, interrupts);
        }
        result
    }
}

/// Extends [`Launch`] with the method [`measured`](Self::measured).
///
/// ```
/// use petalflow_tracing::{MeasureLaunch, Metrics};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> petalflow::Result<EssayDraft> { Err("no idea".into()) }
/// # flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let metrics = Metrics::new();
/// // The only node, `write`, fails.
/// assert!(Write::new().measured(&metrics).run(()).await.is_err());
/// assert_eq!(metrics.snapshot().failed(), ["write"]);
/// # }
/// ```
pub trait MeasureLaunch {
    /// Counts the runs and the attempts of nodes. See [`Metrics`].
    #[must_use = "nothing runs before `run`"]
    fn measured(self, metrics: &Metrics) -> Self;
}

impl<F: Flow> MeasureLaunch for Launch<F> {
    fn measured(self, metrics: &Metrics) -> Self {
        self.run_middleware(metrics.clone())
            .middleware(metrics.clone())
    }
}
