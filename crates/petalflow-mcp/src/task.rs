//! Tasks: calls that a server works on after it has answered them (the extension `io.modelcontextprotocol/tasks`).

use std::collections::BTreeSet;
use std::time::Duration;

use petalflow::tool::ToolError;
use rmcp::model::{
    CallToolResult, CancelTaskParams, GetTaskParams, JsonObject, Task, TaskPayload,
    UpdateTaskParams,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use super::McpError;
use super::session::Session;

/// How often a server is asked that does not say how often.
const INTERVAL: Duration = Duration::from_secs(1);

/// The bounds of what a server may say.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_mins(1);

/// Waits for the result of a task that the tool `tool` has begun. It lasts as long as the server says that it works.
pub(super) async fn result(
    session: &Session,
    tool: &str,
    task: Task,
) -> Result<CallToolResult, ToolError> {
    let mut cancel = CancelOnDrop {
        session,
        id: Some(task.task_id.clone()),
    };
    let failed = |message| {
        ToolError::failed(McpError::Refused {
            server: session.name.clone(),
            what: tool.into(),
            message,
        })
    };
    let mut interval = task.poll_interval_ms;
    let mut answered = BTreeSet::new();
    loop {
        tokio::time::sleep(wait(interval)).await;
        let params = GetTaskParams::new(task.task_id.clone());
        let known = request(session, tool, |peer| {
            let params = params.clone();
            async move { peer.get_task(params).await }
        });
        let known = known.await.map_err(ToolError::failed)?;
        interval = known.task.task.poll_interval_ms;
        match known.task.payload {
            TaskPayload::Completed { result } => {
                cancel.id = None;
                let result = serde_json::from_value(Value::Object(result));
                return result.map_err(|_| {
                    ToolError::failed(McpError::Malformed {
                        server: session.name.clone(),
                        what: tool.into(),
                        problem: "the result of its task is none of a tool",
                    })
                });
            }
            TaskPayload::Failed { error } => {
                cancel.id = None;
                return Err(failed(message(&error)));
            }
            TaskPayload::Cancelled => {
                cancel.id = None;
                return Err(failed("it has cancelled the task".into()));
            }
            TaskPayload::InputRequired { mut input_requests } => {
                // A server may show a request for a while after its answer.
                input_requests.retain(|name, _| answered.insert(name.clone()));
                if input_requests.is_empty() {
                    continue;
                }
                let handlers = &session.options.request_handlers;
                let answers = handlers.answer_all(&session.name, input_requests).await;
                let answers = answers.map_err(|error| {
                    failed(format!("it needs an answer, and {}", error.message))
                })?;
                let params = UpdateTaskParams::new(task.task_id.clone(), answers);
                let updating = request(session, tool, |peer| {
                    let params = params.clone();
                    async move { peer.update_task(params).await }
                });
                updating.await.map_err(ToolError::failed)?;
            }
            _ => {}
        }
    }
}

/// Makes a request about a task, and repeats it once if the connection was lost: another connection may know the task.
async fn request<T, F>(
    session: &Session,
    what: &str,
    send: impl Fn(Peer<RoleClient>) -> F,
) -> Result<T, McpError>
where
    F: Future<Output = Result<T, ServiceError>>,
{
    let limit = session.options.timeout;
    let mut may_reconnect = true;
    loop {
        let connection = session.connection().await?;
        let answer = tokio::time::timeout(limit, send(connection.peer().clone())).await;
        let error = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => session.failed(&connection, what, error),
            Err(_) => return Err(session.timed_out(what, limit)),
        };
        if !may_reconnect || !matches!(error, McpError::Lost { .. }) {
            return Err(error);
        }
        may_reconnect = false;
    }
}

fn wait(interval_ms: Option<u64>) -> Duration {
    let interval = interval_ms.map_or(INTERVAL, Duration::from_millis);
    interval.clamp(SHORTEST, LONGEST)
}

fn message(error: &JsonObject) -> String {
    let message = error.get("message").and_then(Value::as_str);
    message
        .unwrap_or("the task has failed without a message")
        .into()
}

/// Cancels the task when it is dropped: the caller has left.
struct CancelOnDrop<'a> {
    session: &'a Session,
    id: Option<String>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let session = self.session.clone();
        // Without a runtime the program ends, and the connection with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // Delivery is best effort.
                let _ = request(&session, &id, |peer| {
                    let params = CancelTaskParams::new(id.clone());
                    async move { peer.cancel_task(params).await }
                })
                .await;
            });
        }
    }
}
