//! A call of a server's tool.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification,
    CancelledNotificationParam, ClientRequest, ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::McpError;
use super::connection::Connection;
use super::handler::ProgressReceiver;
use super::result::from_mcp;
use super::session::Session;
use super::{output_schema, task};
use petalflow::tool::{ToolContext, ToolError};

/// Calls a tool. The first name is that of the server, the second one that in this program. Its result must fit the schema.
pub(super) async fn call(
    session: &Session,
    (name, local_name): (&str, &str),
    output_schema: Option<&Value>,
    arguments: Map<String, Value>,
    cx: &ToolContext,
) -> Result<Value, ToolError> {
    let mut params = CallToolRequestParams::new(name.to_string()).with_arguments(arguments);
    let malformed = |problem| {
        ToolError::failed(McpError::Malformed {
            server: session.name.clone(),
            what: name.to_string(),
            problem,
        })
    };
    for _ in 0..MAX_INPUT_ROUNDS {
        let (connection, result) = request(session, &params, local_name, cx).await?;
        match result {
            Ok(ServerResult::CallToolResult(result)) => {
                return finished(session, name, output_schema, result);
            }
            Ok(ServerResult::CreateTaskResult(created)) => {
                let result = task::result(session, name, created.task).await?;
                return finished(session, name, output_schema, result);
            }
            Ok(ServerResult::InputRequiredResult(required)) => {
                let requests = required.input_requests.unwrap_or_default();
                let answers = session
                    .options
                    .request_handlers
                    .answer_all(&session.name, requests)
                    .await;
                params.input_responses =
                    Some(answers.map_err(|error| refused(session, name, error))?);
                params.request_state = required.request_state;
            }
            Ok(ServerResult::CustomResult(result))
                if result.0.get("task").is_some_and(Value::is_object) =>
            {
                return Err(malformed(
                    "it began a task of the version 2025-11-25 of the protocol, and this client waits for those of the extension `io.modelcontextprotocol/tasks` only; ask the server for the result itself",
                ));
            }
            Ok(_) => return Err(malformed("fields are missing, or of another type")),
            Err(ServiceError::Timeout { timeout }) => {
                return Err(ToolError::Timeout(local_name.to_string(), timeout));
            }
            Err(error) => return Err(ToolError::failed(session.failed(&connection, name, error))),
        }
    }
    Err(malformed("too many requests for input"))
}

/// The most rounds of input requests in one call.
const MAX_INPUT_ROUNDS: usize = 16;

/// The value of a result, which must fit the schema.
fn finished(
    session: &Session,
    name: &str,
    output_schema: Option<&Value>,
    result: CallToolResult,
) -> Result<Value, ToolError> {
    let schema = output_schema.filter(|_| !session.options.unchecked_results);
    if let Some(problem) = schema.and_then(|schema| output_schema::mistakes(schema, &result)) {
        return Err(ToolError::failed(McpError::Output {
            server: session.name.clone(),
            name: name.into(),
            problem,
        }));
    }
    from_mcp(result).map_err(ToolError::failed)
}

/// The error for input requests that could not be answered.
fn refused(session: &Session, tool: &str, error: ErrorData) -> ToolError {
    ToolError::failed(McpError::Refused {
        server: session.name.clone(),
        what: tool.to_string(),
        message: format!("it needs an answer, and {}", error.message),
    })
}

/// Sends the request and waits for the result.
async fn request(
    session: &Session,
    params: &CallToolRequestParams,
    local_name: &str,
    cx: &ToolContext,
) -> Result<(Arc<Connection>, Result<ServerResult, ServiceError>), ToolError> {
    let (connection, handle) = send(session, params).await?;
    let progress = connection.progress_of(handle.progress_token.clone());
    let cancel = CancelOnDrop {
        peer: connection.peer(),
        id: Some(handle.id.clone()),
    };
    let result = wait_for_result(handle, progress, local_name, cx).await;
    cancel.disarm();
    Ok((connection, result))
}

/// Sends the request. Connects again, once, if the connection turns out to be closed.
async fn send(
    session: &Session,
    params: &CallToolRequestParams,
) -> Result<(Arc<Connection>, RequestHandle<RoleClient>), ToolError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
    let mut may_reconnect = true;
    loop {
        let connection = session.connection().await.map_err(ToolError::failed)?;
        let options =
            PeerRequestOptions::with_timeout(session.options.timeout).reset_timeout_on_progress();
        let sent = connection
            .peer()
            .send_request_with_option(request.clone(), options)
            .await;
        match sent {
            Ok(handle) => return Ok((connection, handle)),
            Err(ServiceError::TransportClosed) if may_reconnect => may_reconnect = false,
            Err(error) => {
                return Err(ToolError::failed(session.failed(
                    &connection,
                    &params.name,
                    error,
                )));
            }
        }
    }
}

/// Waits for the result and emits progress meanwhile. `MessageHandler::dispatch_progress` cannot emit it: the values
/// must reach the run that waits for the call.
async fn wait_for_result(
    handle: RequestHandle<RoleClient>,
    mut progress: ProgressReceiver,
    tool: &str,
    cx: &ToolContext,
) -> Result<ServerResult, ServiceError> {
    let emit = |notification| cx.emit(progress_event(tool, cx, notification));
    let mut response = pin!(handle.await_response());
    let result = poll_fn(|task| {
        while let Poll::Ready(Some(notification)) = progress.notifications.poll_recv(task) {
            emit(notification);
        }
        response.as_mut().poll(task)
    })
    .await;
    // Progress that arrived before the result.
    while let Ok(notification) = progress.notifications.try_recv() {
        emit(notification);
    }
    result
}

/// The progress of a call, as its server reports it: the payload of a [`CustomEvent`](petalflow::event::CustomEvent).
///
/// ```
/// use petalflow_mcp::ToolProgress;
///
/// fn percent(event: &petalflow::event::CustomEvent) -> Option<f64> {
///     let progress: &ToolProgress = event.downcast_ref()?;
///     Some(100.0 * progress.progress / progress.total?)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolProgress {
    /// The tool's name in this program.
    pub tool: String,
    /// The id of the call.
    pub call_id: String,
    /// The progress so far. It grows with each notification.
    pub progress: f64,
    /// The progress at the end, if the server knows it.
    pub total: Option<f64>,
    /// A text for a person.
    pub message: Option<String>,
}

fn progress_event(
    tool: &str,
    cx: &ToolContext,
    notification: ProgressNotificationParam,
) -> ToolProgress {
    ToolProgress {
        tool: tool.into(),
        call_id: cx.call_id.clone(),
        progress: notification.progress,
        total: notification.total,
        message: notification.message,
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
        let params =
            CancelledNotificationParam::new(Some(id), Some("the caller dropped the call".into()));
        let notification = CancelledNotification::new(params);
        // The first poll puts the notification into the send queue. Delivery is best effort.
        let _ = self
            .peer
            .send_notification(notification.into())
            .now_or_never();
    }
}
