//! A task as a stream: the task, and what happens in its newest turn, to its end.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, future};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::error::{A2aError, ErrorKind};
use super::queued_task::QueuedTask;
use super::task::{self, Task};
use super::task_id::TaskId;
use super::updates::{TaskState, Update, Updates, artifact_id};
use crate::protocol::clock::now_ms;
use crate::protocol::queued::{Begun, Step, Steps};
use crate::protocol::waits;
use crate::refusal::Refusal;
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
    let turn = task.turn.after;
    let steps = Begun::Turn(task.turn).steps(server);
    let updates = Following {
        id: task.id,
        turn,
        updates: task.updates,
        _permit: permit,
    };
    updates.of(first, steps)
}

/// The task (`first`), whose message is queued, and the updates of its turn when that begins.
pub(super) fn queued(
    server: &Arc<Inner>,
    task: QueuedTask,
    first: Value,
    permit: OwnedSemaphorePermit,
) -> TaskStream {
    let steps = Begun::Queued(task.queued).steps(server);
    let updates = Following {
        id: task.id,
        // That of its turn follows.
        turn: 0,
        updates: Updates::default(),
        _permit: permit,
    };
    updates.of(first, steps)
}

/// A task that a client follows.
struct Following {
    id: TaskId,
    /// The number of the last event before the turn.
    turn: u64,
    updates: Updates,
    _permit: OwnedSemaphorePermit,
}

impl Following {
    fn of(mut self, first: Value, steps: Steps) -> TaskStream {
        let first = json!({ "task": first });
        let responses = steps.filter_map(move |step| future::ready(self.read(step)));
        stream::iter([Ok(first)]).chain(responses).boxed()
    }

    fn read(&mut self, step: Result<Step, Refusal>) -> Option<Result<Value, A2aError>> {
        let state = match step {
            Ok(Step::Item(item)) => {
                let update = self.updates.read(item)?;
                return response(&self.id, self.turn, update).map(Ok);
            }
            Ok(Step::Begun(turn)) => {
                self.turn = turn.after;
                TaskState::Working
            }
            Ok(Step::Cancelled) => TaskState::Canceled,
            Err(refusal) => return Some(Err(A2aError::from(refusal))),
        };
        Some(Ok(json!({ "statusUpdate": {
            "taskId": self.id.text(), "contextId": self.id.context,
            "status": task::status(state, None, now_ms()),
        } })))
    }
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
