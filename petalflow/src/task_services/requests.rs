//! Requests of tasks to models, which a thread with results records for replays.

use std::pin::pin;
use std::sync::atomic::Ordering;

use super::{TaskRef, TaskServices};
use crate::checkpoint::{Durability, WriteName};
use crate::error::BoxError;
use crate::request_parts::RequestParts;

const METHOD: &str = "note_request";

impl TaskServices {
    /// Whether requests are recorded: the thread retains the results of its tasks, and stores them when they end.
    pub(crate) fn notes_requests(&self) -> bool {
        self.retention.results && self.durability != Durability::Exit
    }

    /// Records a request. In a replay, gives it to the replay, and goes on only if the task is one that runs.
    pub(crate) async fn note_request(
        &self,
        task: &TaskRef<'_>,
        parts: &RequestParts,
    ) -> Result<(), BoxError> {
        task.check_alive(METHOD)?;
        let number = self.number_request(task);
        #[cfg(feature = "engine")]
        if self.storage.store.is_replay() {
            let request = parts.encoded(true)?;
            self.storage.store.take_request(task.id, number, request);
            return self.leave_if_prepared(task).await;
        }
        let stored = pin!(self.barrier_stored(task.superstep));
        task.while_alive(METHOD, stored).await?;
        let name = WriteName::Request(number);
        match self.store_record(task, name, parts.stored()?).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.abort(task, METHOD, error.into()).await),
        }
    }

    /// Leaves a task that a replay runs only as far as its request.
    #[cfg(feature = "engine")]
    pub(crate) async fn leave_if_prepared(&self, task: &TaskRef<'_>) -> Result<(), BoxError> {
        if self.storage.store.prepares(task.id) {
            return Err(self.leave_for_good(task.id).await);
        }
        Ok(())
    }

    /// The number of a request among those of an attempt.
    fn number_request(&self, task: &TaskRef<'_>) -> u32 {
        self.has_records.store(true, Ordering::Release);
        let mut inner = self.lock();
        let made = inner.requests_made.entry((task.id, task.attempt));
        let made = made.or_default();
        *made += 1;
        *made - 1
    }
}
