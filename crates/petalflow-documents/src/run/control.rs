//! The control of a run with options: the limits of its nodes, and its pauses.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;

use super::event::RunEventKind;
use super::options::RunOptions;
use super::step::{StepAborted, StepGraph, StepPoint, StepRequest, StepResponse};
use crate::{Envelope, NodeKind};
use petalflow::{BoxError, Context};

/// A node ran more often than the options of the run allow: [`RunError::get_ref`](petalflow::RunError::get_ref) returns it.
///
/// ```
/// use petalflow_documents::run::MaxHopsExceeded;
///
/// let error = MaxHopsExceeded { node: "again".into(), max_hops: 2 };
/// assert!(error.to_string().starts_with("node `again` would run more than 2 times"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}` would run more than {max_hops} times: raise `max_hops`, or end its cycle")]
pub struct MaxHopsExceeded {
    /// The node.
    pub node: String,
    /// How often it may run.
    pub max_hops: u32,
}

/// A node took longer than the options of the run allow.
///
/// ```
/// use petalflow_documents::run::NodeTimeout;
/// use std::time::Duration;
///
/// let error = NodeTimeout { node: "fetch".into(), timeout: Duration::from_secs(30) };
/// assert_eq!(error.to_string(), "node `fetch` took longer than 30s");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}` took longer than {timeout:?}")]
pub struct NodeTimeout {
    /// The node.
    pub node: String,
    /// The limit.
    pub timeout: Duration,
}

/// The managed value of a run with options.
#[derive(Debug)]
pub(crate) struct RunControl {
    options: RunOptions,
    hops: Mutex<HashMap<String, u32>>,
    pauses: tokio::sync::Mutex<Pauses>,
}

#[derive(Debug, Default)]
struct Pauses {
    count: u64,
    only_breakpoints: bool,
}

/// The node and the point at which a run may pause.
#[derive(Clone, Copy)]
pub(crate) struct PausePoint<'a> {
    pub(crate) node: &'a str,
    pub(crate) kind: &'a NodeKind,
    pub(crate) point: StepPoint,
    pub(crate) graph: &'a StepGraph,
}

impl RunControl {
    pub(super) fn new(options: RunOptions) -> Self {
        RunControl {
            options,
            hops: Mutex::default(),
            pauses: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn continues_on_error(&self) -> bool {
        self.options.continue_on_error
    }

    /// Counts a run of a node.
    pub(crate) fn count(&self, node: &str) -> Result<(), MaxHopsExceeded> {
        let mut hops = self.hops.lock().unwrap_or_else(PoisonError::into_inner);
        let hops = hops.entry(node.into()).or_default();
        *hops += 1;
        if *hops <= self.options.max_hops {
            return Ok(());
        }
        Err(MaxHopsExceeded {
            node: node.into(),
            max_hops: self.options.max_hops,
        })
    }

    /// Runs a node with its time limit. If failures are recorded, a panic is a failure here. Otherwise the engine catches it.
    pub(crate) async fn attempt<T>(
        &self,
        node: &str,
        work: impl Future<Output = Result<T, BoxError>> + Send,
    ) -> Result<T, BoxError> {
        let limited = async {
            let Some(timeout) = self.options.node_timeout else {
                return work.await;
            };
            let limited = tokio::time::timeout(timeout, work).await;
            limited.unwrap_or_else(|_| {
                let node = node.into();
                Err(NodeTimeout { node, timeout }.into())
            })
        };
        if !self.options.continue_on_error {
            return limited.await;
        }
        let caught = std::panic::AssertUnwindSafe(limited).catch_unwind().await;
        caught.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("it panicked: {}", text.unwrap_or("without a message")).into())
        })
    }

    /// The controller's response. A controller that does not respond in time aborts the run.
    async fn within_step_timeout(
        &self,
        response: impl Future<Output = StepResponse> + Send,
    ) -> StepResponse {
        let Some(timeout) = self.options.step_timeout else {
            return response.await;
        };
        let limited = tokio::time::timeout(timeout, response).await;
        limited.unwrap_or_else(|_| {
            let reason = format!("the controller did not respond within {timeout:?}");
            StepResponse::Abort { reason }
        })
    }

    /// Pauses, if the controller wants to, and returns how the run continues.
    pub(crate) async fn pause(
        &self,
        at: PausePoint<'_>,
        envelope: impl FnOnce() -> Envelope,
        cx: &Context,
    ) -> Result<StepResponse, StepAborted> {
        let Some(controller) = &self.options.step else {
            return Ok(StepResponse::proceed());
        };
        let PausePoint {
            node,
            kind,
            point,
            graph,
        } = at;
        // Waiting tasks get the lock in the order in which they asked for it, which is that of the nodes.
        let mut pauses = self.pauses.lock().await;
        let is_breakpoint = controller.is_breakpoint(node, point);
        if !is_breakpoint && (pauses.only_breakpoints || !controller.pauses_at(node, point)) {
            return Ok(StepResponse::proceed());
        }
        pauses.count += 1;
        pauses.only_breakpoints = false;
        RunEventKind::StepPaused.emit(cx, || json!({ "point": point, "number": pauses.count }));
        let response = controller.step(StepRequest {
            number: pauses.count,
            node: node.into(),
            kind: kind.clone(),
            point,
            envelope: envelope(),
            graph: graph.clone(),
        });
        let response = self.within_step_timeout(response).await;
        match &response {
            StepResponse::Abort { reason } => {
                RunEventKind::StepAborted.emit(cx, || json!({ "point": point, "reason": reason }));
                return Err(StepAborted {
                    node: node.into(),
                    reason: reason.clone(),
                });
            }
            StepResponse::Skip if point == StepPoint::Before => {
                RunEventKind::StepSkipped.emit(cx, || json!({ "point": point }));
            }
            StepResponse::Skip | StepResponse::Continue { .. } => {
                RunEventKind::StepResumed.emit(cx, || json!({ "point": point }));
            }
            StepResponse::RunToBreakpoint => {
                pauses.only_breakpoints = true;
                RunEventKind::StepResumed.emit(cx, || json!({ "point": point }));
            }
        }
        Ok(response)
    }
}
