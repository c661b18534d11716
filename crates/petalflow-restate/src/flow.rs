//! A flow on Restate: its placements and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use petalflow::engine::{EventSink, EventSource, ThreadEngine};
use petalflow::state::Storable;
use petalflow::thread::{Retention, ThreadError};
use petalflow::{Flow, Launch};
use restate_sdk::endpoint::ServiceOptions;

use crate::bodies::{Bodies, ThreadBodies};
use crate::timeouts::Timeouts;

/// So many attempts that there is no last one. Without a number the server has one of its own, which is 70.
const WITHOUT_END: u64 = u32::MAX as u64;

/// A flow on Restate: what its drivers, node hosts and clients have in common. Clones are equal.
///
/// ```
/// use std::time::Duration;
/// use petalflow_restate::RestateFlow;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
///
/// # fn main() -> Result<(), petalflow::thread::ThreadError> {
/// let flow = RestateFlow::new(Write::new())
///     .place("write", "writers")?
///     .delete_after(Duration::from_hours(24));
/// assert!(RestateFlow::new(Write::new()).place("wirte", "writers").is_err());
/// # let _ = flow;
/// # Ok(())
/// # }
/// ```
pub struct RestateFlow<F: Flow> {
    pub(crate) engine: ThreadEngine<F>,
    /// Where listeners read events.
    pub(crate) source: Option<Arc<dyn EventSource>>,
    pub(crate) delete_after: Option<Duration>,
    bodies: Option<Bodies>,
    pub(crate) retry: RetryPolicy,
    pub(crate) timeouts: Timeouts,
    prefix: String,
}

/// How Restate repeats an invocation whose process has failed: the driver or the node host was lost, and not a node. What a failed
/// node does is the business of its own retries.
///
/// ```
/// use std::time::Duration;
/// use petalflow_restate::RetryPolicy;
///
/// let paused = RetryPolicy { attempts: Some(20), ..RetryPolicy::default() };
/// assert_eq!(paused.first, Duration::from_millis(50));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The first wait.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// How much longer each wait is than the one before.
    pub factor: f64,
    /// After how many attempts Restate pauses the invocation, until [`resume`](crate::RestateThread::resume) or an operator continues
    /// it. `None`, the default: it is repeated without end, so a thread goes on by itself when the process is back.
    pub attempts: Option<u64>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            first: Duration::from_millis(50),
            longest: Duration::from_secs(10),
            factor: 2.0,
            attempts: None,
        }
    }
}

impl<F: Flow> fmt::Debug for RestateFlow<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestateFlow")
            .field("engine", &self.engine)
            .field("has_events", &self.source.is_some())
            .field("delete_after", &self.delete_after)
            .field("bodies", &self.bodies)
            .field("retry", &self.retry)
            .field("timeouts", &self.timeouts)
            .field("prefix", &self.prefix)
            .finish()
    }
}

impl<F: Flow> Clone for RestateFlow<F> {
    fn clone(&self) -> Self {
        RestateFlow {
            engine: self.engine.clone(),
            source: self.source.clone(),
            delete_after: self.delete_after,
            bodies: self.bodies.clone(),
            retry: self.retry.clone(),
            timeouts: self.timeouts,
            prefix: self.prefix.clone(),
        }
    }
}

impl<F: Flow<State: Storable>> RestateFlow<F> {
    /// A flow whose nodes run in the driver, except for those with `remote` in `with`. The newest checkpoint of a thread remains.
    pub fn new(launch: Launch<F>) -> Self {
        let flow = RestateFlow {
            engine: ThreadEngine::new(launch).retention(Retention::max_checkpoints(1)),
            source: None,
            delete_after: None,
            bodies: None,
            retry: RetryPolicy::default(),
            timeouts: Timeouts::default(),
            prefix: String::new(),
        };
        // Its name has the prefix.
        flow.prefix("petalflow_")
    }

    /// Sets what the names of the services of this flow begin with; `petalflow_` by default. Two programs on one server whose flows have
    /// the same name need different prefixes, and so do two agents of one program, because every agent is the same flow. Drivers, node
    /// hosts, clients and servers get the same prefix. Threads of a flow are found under its prefix only: choose it before there are
    /// any.
    ///
    /// ```
    /// use petalflow_restate::RestateFlow;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// let flow = RestateFlow::new(Write::new()).prefix("press_");
    /// assert_eq!(flow.threads_service(), "press_Threads_Write");
    /// ```
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self.engine = self.engine.clone().reached_as(self.threads_service());
        self
    }

    /// Places a node on a pool: its tasks run in the processes that serve the pool. This replaces a `remote` in the flow.
    ///
    /// # Errors
    ///
    /// The flow has no such node.
    pub fn place(mut self, node: &str, pool: &str) -> Result<Self, ThreadError> {
        self.engine = self.engine.place(node, pool)?;
        Ok(self)
    }

    /// Sets which checkpoints of a thread remain. All of them travel with each superstep, so few should.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.engine = self.engine.retention(retention);
        self
    }

    /// Publishes the events of threads while they run, so that [`RestateThread::follow`](crate::RestateThread::follow) gives them to
    /// listeners in any process: what nodes emit, such as the text of models, tasks, supersteps, and how the thread rests. Drivers,
    /// node hosts and listeners get the same. `petalflow_redis::RedisEvents` is one.
    ///
    /// No run waits for it or fails with it: see [`ThreadEngine::stream_to`].
    ///
    /// ```no_run
    /// use petalflow_redis::{RedisEvents, RedisOptions};
    /// use petalflow_restate::RestateFlow;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let events = RedisEvents::connect(RedisOptions::new("redis://localhost")).await?;
    /// let flow = RestateFlow::new(Write::new()).events(events);
    /// # let _ = flow;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn events(mut self, events: impl EventSink + EventSource + Clone + 'static) -> Self {
        self.engine = self.engine.stream_to(events.clone());
        self.source = Some(Arc::new(events));
        self
    }

    /// Logs the events of threads beside their checkpoints: at least the last `events` events of a thread remain. The protocols of
    /// agents need it, which `petalflow-server` serves. Drivers, node hosts, clients and servers get the same number.
    ///
    /// Unlike [`events`](Self::events), which may be lost, the log is part of the thread: it survives the loss of every process, and
    /// [`Thread::events_since`](petalflow::thread::Thread::events_since) reads it in [`edit`](crate::RestateThread::edit). It travels
    /// with each superstep, so it has no pieces of texts, and it should be short: some hundred events. See
    /// [`ThreadEngine::event_log`].
    ///
    /// ```
    /// use petalflow_restate::RestateFlow;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// let flow = RestateFlow::new(Write::new()).event_log(200);
    /// # let _ = flow;
    /// ```
    #[must_use]
    pub fn event_log(mut self, events: u64) -> Self {
        self.engine = self.engine.event_log(events);
        self
    }

    /// How many events this process could not publish. No run is affected.
    pub fn dropped_events(&self) -> u64 {
        self.engine.dropped_events()
    }

    /// Deletes a thread this long after it has finished. By default it remains until it is deleted.
    #[must_use]
    pub fn delete_after(mut self, after: Duration) -> Self {
        self.delete_after = Some(after);
        self
    }

    /// Stores bodies that are too large for Restate in an object store. Without it, what is too large fails.
    #[must_use]
    pub fn bodies(mut self, bodies: Bodies) -> Self {
        self.bodies = Some(bodies);
        self
    }

    /// Sets how Restate repeats invocations whose process has failed.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how long a superstep or a placed node may run without news before Restate asks it to stop, and how long after that it
    /// aborts it. By default 15 minutes and 1 minute. The first is longer than the longest call of a model.
    ///
    /// A node that is silent for longer is dropped and begun again. After the third time the thread fails, and the failure names this
    /// setting. [`Context::heartbeat`](petalflow::Context::heartbeat) and each emitted value are news. So is the wait for
    /// [`Endpoint::concurrency`](crate::Endpoint::concurrency).
    #[must_use]
    pub fn timeouts(mut self, inactivity: Duration, abort: Duration) -> Self {
        self.timeouts = Timeouts { inactivity, abort };
        self
    }

    /// The name of the service that has the threads. It contains the name of the flow in storage, so a flow that is renamed with
    /// `#[flow(id = "..")]` keeps its threads.
    pub fn threads_service(&self) -> String {
        format!("{}Threads_{}", self.prefix, self.engine.stored_name())
    }

    /// The name of the service of a pool.
    pub fn nodes_service(&self, pool: &str) -> String {
        format!("{}Nodes_{}_{pool}", self.prefix, self.engine.stored_name())
    }

    /// The bodies of an incarnation of a thread. New ones are for this version.
    pub(crate) fn thread_bodies(
        &self,
        thread: &str,
        incarnation: &str,
        version: u64,
    ) -> ThreadBodies {
        let service = self.threads_service();
        ThreadBodies::new(self.bodies.as_ref(), &service, thread, incarnation, version)
    }

    pub(crate) fn options(&self) -> ServiceOptions {
        let RetryPolicy {
            first,
            longest,
            factor,
            attempts,
        } = self.retry;
        ServiceOptions::new()
            .inactivity_timeout(self.timeouts.inactivity)
            .abort_timeout(self.timeouts.abort)
            .journal_retention(Duration::ZERO)
            .retry_policy_initial_interval(first)
            .retry_policy_max_interval(longest)
            .retry_policy_exponentiation_factor(factor)
            .retry_policy_max_attempts(attempts.unwrap_or(WITHOUT_END))
            .retry_policy_pause_on_max_attempts()
    }
}
