//! A task whose message is queued: it works when the other one of its context has ended.

use petalflow_llm::ChatMessage;
use serde_json::{Value, json};

use super::content;
use super::error::A2aError;
use super::task;
use super::task_id::TaskId;
use super::updates::TaskState;
use crate::message_queue::QueuedInput;
use crate::protocol::queued::{QueueState, QueuedTurn};
use crate::server::Inner;

/// A task as it was before its turn.
pub(super) struct QueuedTask {
    pub(super) id: TaskId,
    pub(super) queued: QueuedTurn,
    /// It is submitted, or was cancelled.
    pub(super) state: TaskState,
    pub(super) changed_ms: u64,
    /// The messages of the user.
    messages: Vec<Value>,
}

impl QueuedTask {
    /// Reads a task. `None` if its turn has begun.
    pub(super) async fn read(
        server: &Inner,
        id: TaskId,
        queued: QueuedTurn,
    ) -> Result<Option<Self>, A2aError> {
        let mut messages = Vec::new();
        let (state, changed_ms) = match queued.state(server).await? {
            None => return Err(A2aError::task_not_found(&id.text())),
            Some(QueueState::Begun(_)) => return Ok(None),
            Some(QueueState::Cancelled { at_ms }) => (TaskState::Canceled, at_ms),
            Some(QueueState::Waits(waiting)) => {
                let read = queued.read(server, &waiting).await?;
                if let Some(QueuedInput::Turn { messages: sent, .. }) = read.map(|it| it.input) {
                    messages.extend(sent.iter().map(|message| shown(message, &id)));
                }
                (TaskState::Submitted, waiting.stored_ms)
            }
        };
        Ok(Some(QueuedTask {
            id,
            queued,
            state,
            changed_ms,
            messages,
        }))
    }

    /// The task with so many of the newest messages.
    pub(super) fn value(&self, history: Option<usize>) -> Value {
        let mut value = json!({
            "id": self.id.text(),
            "contextId": self.id.context,
            "status": task::status(self.state, None, self.changed_ms),
        });
        task::add_history(&mut value, &self.messages, history);
        value
    }
}

fn shown(message: &ChatMessage, id: &TaskId) -> Value {
    let task = id.text();
    content::of_chat(message, &format!("{task}.message"), &id.context, &task)
}
