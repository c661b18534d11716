//! A line in the log for each run and each attempt of a node, and a hook with their times.

use std::time::Duration;

use petalflow::async_trait;
use tokio::time::Instant;

use petalflow::middleware::{Middleware, Next, NodeCall, RunMiddleware, RunNext};
use petalflow::run::RunErrorKind;
use petalflow::{BoxError, RunError, State};

/// Middleware that logs the start and the end of each run and of each attempt of a node, with the crate `tracing`. It is
/// [middleware](petalflow::Middleware) of both kinds.
///
/// The start is an event of level `DEBUG`, the end of level `INFO`, and a failure of level `WARN`. The target is
/// `petalflow`. The fields are `flow` and `thread`, or `node`, `superstep` and `attempt`; at the end also `took_ms`, and
/// `error` for a failure. Values of the state are not logged.
///
/// Use [`Spans`](crate::Spans) for traces; both can be used together.
///
/// ```
/// use petalflow_tracing::Logged;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // INFO petalflow: node finished node="write" superstep=1 attempt=1 took_ms=0
/// // INFO petalflow: run finished flow="Write" took_ms=0
/// Write::new().run_middleware(Logged::new()).middleware(Logged::new()).run(()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Logged {}

impl Logged {
    /// Creates the middleware.
    pub fn new() -> Self {
        Logged {}
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Logged {
    async fn around(&self, mut call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        let started = Instant::now();
        let (superstep, attempt) = (call.superstep(), call.attempt());
        tracing::debug!(target: "petalflow", node = call.node(), superstep, attempt, "node started");
        let result = next.run(call.reborrow()).await;
        let (node, took_ms) = (call.node(), millis(started));
        match &result {
            Ok(()) => {
                tracing::info!(target: "petalflow", node, superstep, attempt, took_ms, "node finished");
            }
            Err(error) => {
                tracing::warn!(target: "petalflow", node, superstep, attempt, took_ms, %error, "node failed");
            }
        }
        result
    }
}

#[async_trait]
impl<S: State> RunMiddleware<S> for Logged {
    async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError> {
        let started = Instant::now();
        let (flow, thread) = (next.flow(), next.thread());
        tracing::debug!(target: "petalflow", flow, thread, "run started");
        let result = next.run(input).await;
        let took_ms = millis(started);
        match &result {
            Ok(_) => tracing::info!(target: "petalflow", flow, thread, took_ms, "run finished"),
            Err(error) => match error.kind() {
                RunErrorKind::Interrupted { .. }
                | RunErrorKind::Sleeping { .. }
                | RunErrorKind::Drained { .. } => {
                    tracing::info!(target: "petalflow", flow, thread, took_ms, "run paused");
                }
                _ => {
                    tracing::warn!(target: "petalflow", flow, thread, took_ms, %error, "run failed");
                }
            },
        }
        result
    }
}

fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Middleware that calls a function after each attempt of a node, with its time: for metrics of your own.
///
/// ```
/// use petalflow_tracing::Timed;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let timed = Timed::new(|report| {
///     let outcome = if report.error.is_none() { "done" } else { "failed" };
///     println!("{} {outcome} after {:?}", report.node, report.took);
/// });
/// Write::new().middleware(timed).run(()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Timed(Box<dyn Fn(&NodeReport<'_>) + Send + Sync>);

/// An attempt of a node that has ended, for [`Timed`].
///
/// ```
/// use petalflow_tracing::NodeReport;
///
/// fn log(report: &NodeReport<'_>) {
///     println!("{} took {:?}", report.node, report.took);
/// }
/// # let _ = log;
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct NodeReport<'a> {
    /// The name of the node.
    pub node: &'a str,
    /// The superstep, from 1.
    pub superstep: u64,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The duration of the attempt.
    pub took: Duration,
    /// The error, if the attempt failed.
    pub error: Option<&'a BoxError>,
}

impl std::fmt::Debug for Timed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timed").finish_non_exhaustive()
    }
}

impl Timed {
    /// Creates the middleware from a hook. An attempt that is dropped, because the run stops or a person is asked, is not
    /// reported.
    pub fn new(hook: impl Fn(&NodeReport<'_>) + Send + Sync + 'static) -> Self {
        Timed(Box::new(hook))
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Timed {
    async fn around(&self, mut call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        let started = Instant::now();
        let result = next.run(call.reborrow()).await;
        (self.0)(&NodeReport {
            node: call.node(),
            superstep: call.superstep(),
            attempt: call.attempt(),
            took: started.elapsed(),
            error: result.as_ref().err(),
        });
        result
    }
}
