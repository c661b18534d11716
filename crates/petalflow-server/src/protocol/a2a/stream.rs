//! A task as a stream: the task, and what happens in its newest turn, to its end.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, future};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::clock::now_ms;
use super::error::{A2aError, ErrorKind};
use super::task::{self, Task};
use super::task_id::TaskId;
use super::updates::{TaskState, Update, artifact_id};
use crate::protocol::waits;
use crate::server::Inner;

/// The responses of a stream (`StreamResponse`).
pub(super) type TaskStream = BoxStream<'static, Result<Value, A2aError>>;

/// The permission to send one more stream.
pub(super) fn permit(server: &Inner) -> Result<OwnedSemaphorePermit, A2aError> {
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    permit.map_err(|_| ErrorKind::Busy.with("too many clients receive events"))
}

/// The task (`first`), and the updates of its newest turn from the start of the turn: the first part of an artifact replaces
/// what the client has of it.
pub(super) fn of(
    server: &Arc<Inner>,
    task: Task,
    first: Value,
    permit: OwnedSemaphorePermit,
) -> TaskStream {
    let first = json!({ "task": first });
    let items = task.turn.items(server);
    let (id, turn) = (task.id, task.turn.after);
    let mut updates = task.updates;
    let responses = items.filter_map(move |item| {
        let _permit = &permit;
        let response = match item {
            Ok(item) => updates
                .read(item)
                .and_then(|update| response(&id, turn, update).map(Ok)),
            Err(refusal) => Some(Err(A2aError::from(refusal))),
        };
        future::ready(response)
    });
    stream::iter([Ok(first)]).chain(responses).boxed()
}

/// The response for an update. `None` if another process continues the task.
fn response(id: &TaskId, turn: u64, update: Update) -> Option<Value> {
    let (task, context) = (id.text(), &id.context);
    Some(match update {
        Update::Artifact {
            number,
            part,
            append,
            last,
        } => json!({ "artifactUpdate": {
            "taskId": task, "contextId": context, "append": append, "lastChunk": last,
            "artifact": { "artifactId": artifact_id(number), "name": "answer", "parts": [part] },
        } }),
        Update::Tool(name) => json!({ "statusUpdate": {
            "taskId": task, "contextId": context,
            "status": task::status(TaskState::Working, None, now_ms()),
            "metadata": { "tool": name },
        } }),
        Update::End {
            state: TaskState::Working,
            ..
        } => return None,
        Update::End { end, state, text } => {
            let waits = waits::all(&end.turn.pending, &end.questions);
            let message = task::status_message(id, turn, &waits, text.as_deref());
            json!({ "statusUpdate": {
                "taskId": task, "contextId": context,
                "status": task::status(state, message, now_ms()),
            } })
        }
    })
}
