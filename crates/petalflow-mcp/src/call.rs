//! A call of a server's tool.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::McpError;
use super::client::Shared;
use super::connection::{Live, Reports};
use super::result::received;
use petalflow::tool::{ToolContext, ToolError};

/// Calls a tool. `name` is the server's name of it, `known_as` the name in this program.
pub(super) async fn call(
    server: &Shared,
    name: &str,
    known_as: &str,
    arguments: Map<String, Value>,
    cx: &ToolContext,
) -> Result<Value, ToolError> {
    let mut params = CallToolRequestParams::new(name.to_string()).with_arguments(arguments);
    let malformed = |problem| {
        ToolError::failed(McpError::Malformed {
            server: server.name.clone(),
            what: name.to_string(),
            problem,
        })
    };
    for _ in 0..ROUNDS {
        let (live, result) = round(server, &params, known_as, cx).await?;
        match result {
            Ok(ServerResult::CallToolResult(result)) => {
                return received(result).map_err(ToolError::failed);
            }
            Ok(ServerResult::InputRequiredResult(asks)) => {
                let requests = asks.input_requests.unwrap_or_default();
                let answers = server.options.answers.all(&server.name, requests).await;
                params.input_responses =
                    Some(answers.map_err(|error| refused(server, name, error))?);
                params.request_state = asks.request_state;
            }
            Ok(ServerResult::CreateTaskResult(_)) => {
                return Err(malformed("a task, which is not supported"));
            }
            Ok(_) => return Err(malformed("fields are missing, or of another type")),
            Err(ServiceError::Timeout { timeout }) => {
                return Err(ToolError::Timeout(known_as.to_string(), timeout));
            }
            Err(error) => return Err(ToolError::failed(server.failed(&live, name, error))),
        }
    }
    Err(malformed("one question after the other"))
}

/// The most rounds of input requests in one call.
const ROUNDS: usize = 16;

/// The error for input requests that could not be answered.
fn refused(server: &Shared, tool: &str, error: ErrorData) -> ToolError {
    ToolError::failed(McpError::Refused {
        server: server.name.clone(),
        what: tool.to_string(),
        message: format!("it needs an answer, and {}", error.message),
    })
}

/// Sends the request and waits for the result.
async fn round(
    server: &Shared,
    params: &CallToolRequestParams,
    known_as: &str,
    cx: &ToolContext,
) -> Result<(Arc<Live>, Result<ServerResult, ServiceError>), ToolError> {
    let (live, handle) = send(server, params).await?;
    let reports = live.listen(handle.progress_token.clone());
    let cancel = CancelOnDrop {
        peer: live.peer(),
        id: Some(handle.id.clone()),
    };
    let result = answer(handle, reports, known_as, cx).await;
    cancel.disarm();
    Ok((live, result))
}

/// Sends the request. Connects again, once, if the connection turns out to be closed.
async fn send(
    server: &Shared,
    params: &CallToolRequestParams,
) -> Result<(Arc<Live>, RequestHandle<RoleClient>), ToolError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
    let mut again = true;
    loop {
        let live = server.live().await.map_err(ToolError::failed)?;
        let options =
            PeerRequestOptions::with_timeout(server.options.timeout).reset_timeout_on_progress();
        let sent = live
            .peer()
            .send_request_with_option(request.clone(), options)
            .await;
        match sent {
            Ok(handle) => return Ok((live, handle)),
            Err(ServiceError::TransportClosed) if again => again = false,
            Err(error) => {
                return Err(ToolError::failed(server.failed(&live, &params.name, error)));
            }
        }
    }
}

/// Waits for the result and emits progress meanwhile. It does not emit in `Ear::hear`: the values must reach the run
/// that waits for the call.
async fn answer(
    handle: RequestHandle<RoleClient>,
    mut reports: Reports,
    tool: &str,
    cx: &ToolContext,
) -> Result<ServerResult, ServiceError> {
    let tell = |report| cx.emit(progress(tool, cx, report));
    let mut answer = pin!(handle.await_response());
    let result = poll_fn(|task| {
        while let Poll::Ready(Some(report)) = reports.heard.poll_recv(task) {
            tell(report);
        }
        answer.as_mut().poll(task)
    })
    .await;
    // Progress that arrived before the result.
    while let Ok(report) = reports.heard.try_recv() {
        tell(report);
    }
    result
}

/// The progress of a call, as its server reports it: the payload of a [`CustomEvent`](petalflow::event::CustomEvent).
///
/// ```
/// use petalflow_mcp::ToolProgress;
///
/// fn percent(event: &petalflow::event::CustomEvent) -> Option<f64> {
///     let report: &ToolProgress = event.downcast_ref()?;
///     Some(100.0 * report.progress / report.total?)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolProgress {
    /// The tool's name in this program.
    pub tool: String,
    /// The id of the call.
    pub call_id: String,
    /// The progress so far. It grows with each report.
    pub progress: f64,
    /// The progress at the end, if the server knows it.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
}

fn progress(tool: &str, cx: &ToolContext, report: ProgressNotificationParam) -> ToolProgress {
    ToolProgress {
        tool: tool.into(),
        call_id: cx.call_id.clone(),
        progress: report.progress,
        total: report.total,
        message: report.message,
    }
}

/// Sends a cancelled notification to the server when it is dropped.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl CancelOnDrop<'_> {
    fn disarm(mut self) {
        self.id = None;
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let params = CancelledNotificationParam::new(Some(id), Some("nobody waits for it".into()));
        let notification = CancelledNotification::new(params);
        // The first poll puts the notification into the send queue. Delivery is best effort.
        let _ = self
            .peer
            .send_notification(notification.into())
            .now_or_never();
    }
}
