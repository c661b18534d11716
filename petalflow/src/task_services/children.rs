//! A task that starts other threads, and waits for their ends.
//!
//! Which threads a task has started is recorded beside the checkpoint, so that a node that runs again starts none of them again. A task
//! that waits sleeps until it looks again: the end of the other thread makes its thread due before that.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::wake::Wake;
use super::{TaskRef, TaskServices};
use crate::checkpoint::{Store, WriteName};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;

impl TaskServices {
    /// Awaits the start of a thread, unless the task has started it before.
    pub(crate) fn start_child<'a>(
        &'a self,
        task: &'a TaskRef<'_>,
        child: &'a str,
        start: BoxFuture<'a, Result<(), ThreadError>>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            task.check_alive("start")?;
            let id = TaskId::of(&[&task.id.to_bytes(), b"child", child.as_bytes()]);
            if self.lock().children.contains(&id) {
                return Ok(());
            }
            #[cfg(feature = "engine")]
            if self.storage.store.refuses_effect(task.id, child) {
                return Err(self.leave_for_good(task.id).await);
            }
            // The task is not dropped for another thread that it waits for before this one is recorded.
            let _starting = self.call_effect(task.id);
            let stored = pin!(self.barrier_stored(task.superstep));
            task.while_alive("start", stored).await?;
            start.await?;
            self.has_records.store(true, Ordering::Release);
            let recorded = self.store_record(task, WriteName::Child(id), child.into());
            match recorded.await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.abort(task, "start", error.into()).await),
            }
        })
    }

    /// Waits for the end of a thread. `look` returns how long to wait at most before the next look; `None` if the thread has ended.
    pub(crate) fn join<'a>(
        &'a self,
        task: &'a TaskRef<'_>,
        (store, child): (&'a Arc<dyn Store>, &'a Arc<str>),
        look: BoxFuture<'a, Result<Option<Duration>, BoxError>>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            task.check_alive("join")?;
            // As for a sleep: the task is not dropped before all that it waits for is recorded.
            let recording = self.call_effect(task.id);
            // Before it looks, so that the end of the run does not miss an end behind the look.
            self.storage.links.join(store, child);
            let Some(wait) = look.await? else {
                self.storage.links.leave(child);
                return Ok(());
            };
            let id = TaskId::of(&[&task.id.to_bytes(), b"join", child.as_bytes()]);
            let wake = match self.next_look(task, id, wait).await {
                Ok(wake) => wake,
                Err(error) => return Err(self.abort(task, "join", error.into()).await),
            };
            self.wake_at(task.id, wake);
            drop(recording);
            Err(task.wait_until_over("join").await)
        })
    }

    /// When the task looks again: when it has recorded to do so, or after this time.
    async fn next_look(
        &self,
        task: &TaskRef<'_>,
        id: TaskId,
        wait: Duration,
    ) -> Result<Wake, ThreadError> {
        let now_ms = self.storage.store.now_ms().await?;
        let recorded = self.lock().sleeps.get(&id).copied();
        if let Some(at_ms) = recorded.filter(|at_ms| *at_ms > now_ms) {
            return Ok(Wake::new(at_ms, now_ms));
        }
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let at_ms = now_ms.saturating_add(wait_ms);
        self.has_records.store(true, Ordering::Release);
        self.record_sleep(task, id, at_ms).await?;
        Ok(Wake::new(at_ms, now_ms))
    }
}
