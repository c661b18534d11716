//! A task that is shown: it has begun, or is queued.

use std::sync::Arc;

use serde_json::Value;

use super::error::A2aError;
use super::queued_task::QueuedTask;
use super::task::Task;
use super::task_id::TaskId;
use super::updates::TaskState;
use crate::protocol::queued::Begun;
use crate::served::ServedThreads;
use crate::server::Inner;

pub(super) enum ShownTask {
    Begun(Box<Task>),
    Queued(QueuedTask),
}

impl ShownTask {
    /// Reads a task as it is now.
    pub(super) async fn read(
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
        id: TaskId,
    ) -> Result<Self, A2aError> {
        loop {
            let Some(begun) = id.begun(server, flow).await? else {
                return Err(A2aError::task_not_found(&id.text()));
            };
            match begun {
                Begun::Turn(turn) => {
                    let task = Task::read(id, turn).await?;
                    return Ok(ShownTask::Begun(Box::new(task)));
                }
                Begun::Queued(queued) => {
                    // Otherwise its turn has begun in the meantime.
                    if let Some(task) = QueuedTask::read(server, id.clone(), queued).await? {
                        return Ok(ShownTask::Queued(task));
                    }
                }
            }
        }
    }

    pub(super) fn state(&self) -> TaskState {
        match self {
            ShownTask::Begun(task) => task.state,
            ShownTask::Queued(task) => task.state,
        }
    }

    pub(super) fn changed_ms(&self) -> u64 {
        match self {
            ShownTask::Begun(task) => task.changed_ms(),
            ShownTask::Queued(task) => task.changed_ms,
        }
    }

    /// The task with so many of the newest messages.
    pub(super) fn value(&self, history: Option<usize>, with_artifacts: bool) -> Value {
        match self {
            ShownTask::Begun(task) => task.value(history, with_artifacts),
            ShownTask::Queued(task) => task.value(history),
        }
    }
}
