//! The controllers of steps.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot, watch};

use super::step::{StepController, StepPoint, StepRequest, StepResponse};
use petalflow::async_trait;
use petalflow::middleware::BoxFuture;

type Function = dyn Fn(StepRequest) -> BoxFuture<'static, StepResponse> + Send + Sync;

/// A controller that calls a closure before each node.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
/// use petalflow_documents::run::{FuncController, RunOptions, StepResponse};
/// use serde_json::{Map, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
/// let controller = FuncController::new(|request| async move {
///     StepResponse::Continue {
///         set_vars: Map::from_iter([("seen".to_owned(), json!(request.node))]),
///         delete_vars: vec![],
///     }
/// });
/// let envelope = flow.run_with(Envelope::new(), &RunOptions::new().step(controller)).await?;
/// assert_eq!(envelope.get_var_string("seen"), "only");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FuncController(Arc<Function>);

impl fmt::Debug for FuncController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuncController").finish_non_exhaustive()
    }
}

impl FuncController {
    /// Creates a controller.
    pub fn new<R>(function: impl Fn(StepRequest) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = StepResponse> + Send + 'static,
    {
        FuncController(Arc::new(move |request| Box::pin(function(request))))
    }
}

#[async_trait]
impl StepController for FuncController {
    async fn step(&self, request: StepRequest) -> StepResponse {
        (self.0)(request).await
    }
}

/// A controller whose requests another task answers, such as a user interface. It pauses before each node, and at its
/// breakpoints. Clones share the requests.
///
/// ```
/// use petalflow_documents::run::{ChannelController, StepPoint, StepResponse};
///
/// let controller = ChannelController::new();
/// controller.set_breakpoint("publish", StepPoint::Before);
/// assert!(controller.pending().is_empty());
/// assert!(controller.respond(1, StepResponse::proceed()).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChannelController(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Vec<(StepRequest, oneshot::Sender<StepResponse>)>>,
    breakpoints: Mutex<HashSet<(String, StepPoint)>>,
    arrived: Notify,
}

/// No run waits for the response.
///
/// ```
/// use petalflow_documents::run::{ChannelController, StepResponse};
///
/// let error = ChannelController::new().respond(3, StepResponse::Skip).unwrap_err();
/// assert_eq!(error.number, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no run waits at the pause with number {number}: see `pending`")]
pub struct NoSuchRequest {
    /// The number of the request.
    pub number: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChannelController {
    /// Creates a controller.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a breakpoint.
    pub fn set_breakpoint(&self, node: impl Into<String>, point: StepPoint) {
        lock(&self.0.breakpoints).insert((node.into(), point));
    }

    /// Removes a breakpoint. Returns whether there was one.
    pub fn remove_breakpoint(&self, node: &str, point: StepPoint) -> bool {
        lock(&self.0.breakpoints).remove(&(node.to_owned(), point))
    }

    /// The requests that wait for a response.
    pub fn pending(&self) -> Vec<StepRequest> {
        let mut waiting = lock(&self.0.waiting);
        waiting.retain(|(_, response)| !response.is_closed());
        waiting.iter().map(|(request, _)| request.clone()).collect()
    }

    /// Waits for a request, and returns the oldest. It stays pending until its response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no request.
    pub async fn next(&self) -> StepRequest {
        loop {
            let arrived = self.0.arrived.notified();
            if let Some(request) = self.pending().into_iter().next() {
                return request;
            }
            arrived.await;
        }
    }

    /// Responds to a request.
    ///
    /// # Errors
    ///
    /// If no run waits for the response.
    pub fn respond(&self, number: u64, response: StepResponse) -> Result<(), NoSuchRequest> {
        let mut waiting = lock(&self.0.waiting);
        let at = waiting
            .iter()
            .position(|(request, _)| request.number == number);
        let (_, sender) = waiting.remove(at.ok_or(NoSuchRequest { number })?);
        sender.send(response).map_err(|_| NoSuchRequest { number })
    }
}

#[async_trait]
impl StepController for ChannelController {
    fn is_breakpoint(&self, node: &str, point: StepPoint) -> bool {
        lock(&self.0.breakpoints).contains(&(node.to_owned(), point))
    }

    async fn step(&self, request: StepRequest) -> StepResponse {
        let (sender, response) = oneshot::channel();
        lock(&self.0.waiting).push((request, sender));
        self.0.arrived.notify_waiters();
        // The sender is dropped only with the response.
        let reason = || "the controller was dropped".to_owned();
        response
            .await
            .unwrap_or_else(|_| StepResponse::Abort { reason: reason() })
    }
}

/// A controller that asks another one, at breakpoints only.
///
/// ```
/// use petalflow_documents::run::{AutoController, BreakpointController, StepController, StepPoint};
///
/// let points = [("publish", StepPoint::After)];
/// let controller = BreakpointController::new(points, AutoController::new());
/// assert!(controller.pauses_at("publish", StepPoint::After));
/// assert!(!controller.pauses_at("publish", StepPoint::Before));
/// ```
#[derive(Clone, Debug)]
pub struct BreakpointController<C> {
    points: HashSet<(String, StepPoint)>,
    controller: C,
}

impl<C> BreakpointController<C> {
    /// Creates a controller.
    pub fn new<N: Into<String>>(
        points: impl IntoIterator<Item = (N, StepPoint)>,
        controller: C,
    ) -> Self {
        let points = points.into_iter().map(|(node, point)| (node.into(), point));
        BreakpointController {
            points: points.collect(),
            controller,
        }
    }
}

#[async_trait]
impl<C: StepController> StepController for BreakpointController<C> {
    fn pauses_at(&self, node: &str, point: StepPoint) -> bool {
        self.is_breakpoint(node, point)
    }

    fn is_breakpoint(&self, node: &str, point: StepPoint) -> bool {
        self.points.contains(&(node.to_owned(), point))
    }

    async fn step(&self, request: StepRequest) -> StepResponse {
        self.controller.step(request).await
    }
}

/// A controller that continues by itself, after a delay. While it is paused, it waits. Clones share the pause.
///
/// ```
/// use petalflow_documents::run::AutoController;
/// use std::time::Duration;
///
/// let controller = AutoController::new().delay(Duration::from_millis(200));
/// controller.pause();
/// assert!(controller.is_paused());
/// controller.resume();
/// ```
#[derive(Clone, Debug)]
pub struct AutoController {
    delay: Duration,
    paused: Arc<watch::Sender<bool>>,
}

impl Default for AutoController {
    fn default() -> Self {
        AutoController {
            delay: Duration::ZERO,
            paused: Arc::new(watch::Sender::new(false)),
        }
    }
}

impl AutoController {
    /// Creates a controller without a delay.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits before each node.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Pauses the run before the next node.
    pub fn pause(&self) {
        self.paused.send_replace(true);
    }

    /// Continues the run.
    pub fn resume(&self) {
        self.paused.send_replace(false);
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }
}

#[async_trait]
impl StepController for AutoController {
    async fn step(&self, _: StepRequest) -> StepResponse {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        // The sender lives as long as the controller.
        let waited = self
            .paused
            .subscribe()
            .wait_for(|paused| !paused)
            .await
            .map(|_| ());
        debug_assert!(waited.is_ok());
        StepResponse::proceed()
    }
}
