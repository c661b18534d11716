//! A task that sleeps, from its call to the moment at which it runs again.
//!
//! 1. **Recorded.** The end of the sleep is stored beside the checkpoint, under the position of the sleep in its attempt. A node that
//!    runs again finds it, and does not begin a new period. It is a time of the store's clock.
//! 2. **The task waits**, as one that has asked ([`until_asked`](super::question::until_asked)): it is dropped. While other tasks run,
//!    a timer runs it again when its time has come.
//! 3. **The run stops** when all other tasks have ended, with
//!    [`RunErrorKind::Sleeping`](crate::run::RunErrorKind::Sleeping). The thread is due then. A sleep of a sub-flow is one of its node,
//!    in each flow around it.

use std::future::Future as _;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::time::{Sleep, sleep_until};

use super::services::Inner;
use super::wake::Wake;
use super::{TaskRef, TaskServices};
use crate::checkpoint::{StoredWrite, WriteName};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::pack;

/// The latest end of a sleep that a store takes.
pub(crate) const LATEST_MS: u64 = i64::MAX as u64;

impl TaskServices {
    /// Sleeps until the time that `end` makes of the time now. Both are in milliseconds since 1970 (UTC), by the clock of the store.
    /// If that time has not come, this does not complete while the node runs.
    ///
    /// Boxed, so that no program compiles it again.
    pub(crate) fn sleep<'a>(
        &'a self,
        task: &'a TaskRef<'_>,
        end: impl FnOnce(u64) -> u64 + Send + 'a,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            task.check_alive("sleep")?;
            let id = self.next_sleep(task);
            // The task is not dropped before all that sleeps in it is recorded: each would begin when another one has ended.
            let recording = self.call_effect(task.id);
            let ended = match self.sleep_of(task, id, end).await {
                Ok(ended) => ended,
                Err(error) => return Err(self.abort(task, "sleep", error.into()).await),
            };
            let Some(wake) = ended else {
                return Ok(());
            };
            self.wake_at(task.id, wake);
            drop(recording);
            Err(task.wait_until_over("sleep").await)
        })
    }

    /// When the sleep ends. `None` if it has ended.
    async fn sleep_of(
        &self,
        task: &TaskRef<'_>,
        id: TaskId,
        end: impl FnOnce(u64) -> u64,
    ) -> Result<Option<Wake>, ThreadError> {
        let now_ms = self.storage.store.now_ms().await?;
        let recorded = self.lock().sleeps.get(&id).copied();
        let at_ms = recorded.unwrap_or_else(|| end(now_ms).min(LATEST_MS));
        if recorded.is_none() && at_ms > now_ms {
            self.record_sleep(task, id, at_ms).await?;
        }
        Ok((at_ms > now_ms).then(|| Wake::new(at_ms, now_ms)))
    }

    /// The sub-flow of the task sleeps until this time.
    pub(crate) async fn sleep_of_subflow(
        &self,
        task: &TaskRef<'_>,
        at_ms: u64,
    ) -> Result<(), ThreadError> {
        let id = TaskId::of(&[&task.id.to_bytes(), b"sleep of the sub-flow"]);
        let now_ms = self.storage.store.now_ms().await?;
        let recorded = self.lock().sleeps.get(&id).copied();
        if recorded != Some(at_ms) {
            self.record_sleep(task, id, at_ms).await?;
        }
        self.wake_at(task.id, Wake::new(at_ms, now_ms));
        Ok(())
    }

    /// The name of the next sleep of the attempt: its position.
    fn next_sleep(&self, task: &TaskRef<'_>) -> TaskId {
        let mut inner = self.lock();
        let mut position = 1_u32;
        let name = |position| (task.id, task.attempt, format!("sleep/{position}"));
        while !inner.used_names.insert(name(position)) {
            position += 1;
        }
        drop(inner);
        self.has_records.store(true, Ordering::Release);
        TaskId::of(&[&task.id.to_bytes(), b"sleep", &position.to_le_bytes()])
    }

    /// Stores when a sleep ends. If the process dies before it sets the status of the thread, the thread is listed as due.
    pub(super) async fn record_sleep(
        &self,
        task: &TaskRef<'_>,
        id: TaskId,
        at_ms: u64,
    ) -> Result<(), ThreadError> {
        let stored = pin!(self.barrier_stored(task.superstep));
        if task.while_alive("sleep", stored).await.is_err() {
            // The caller learns it when it waits.
            return Ok(());
        }
        let mut bytes = Vec::new();
        pack::number(at_ms, &mut bytes);
        let write = StoredWrite::new(task.id, WriteName::Sleep(id), bytes);
        let (namespace, origin) = (self.namespace.as_str(), self.origin(task.superstep));
        self.storage
            .write_due(namespace, origin, vec![write], at_ms)
            .await?;
        self.has_records.store(true, Ordering::Release);
        self.lock().sleeps.insert(id, at_ms);
        Ok(())
    }

    /// Makes the task wait for a time. It runs again when the first of those that it waits for has come.
    pub(super) fn wake_at(&self, task: TaskId, wake: Wake) {
        self.asked.store(true, Ordering::Release);
        let mut inner = self.lock();
        let waits = inner.questions.entry(task).or_default();
        waits.is_waiting = true;
        let earlier = waits.wake.filter(|known| known.at_ms <= wake.at_ms);
        waits.wake = Some(earlier.unwrap_or(wake));
        if let Some(waker) = inner.tasks.remove(&task) {
            waker.wake();
        }
    }

    /// When the first of the tasks that sleep wakes, in milliseconds since 1970 (UTC). `None` if no task sleeps.
    pub(crate) fn wakes_ms(&self) -> Option<u64> {
        if !self.has_questions() {
            return None;
        }
        self.lock().wakes().map(|wake| wake.at_ms).min()
    }
}

impl Inner {
    fn wakes(&self) -> impl Iterator<Item = Wake> {
        let waiting = self.questions.values().filter(|waits| waits.is_waiting);
        waiting.filter_map(|waits| waits.wake)
    }

    /// Completes when the first of the tasks that sleep wakes.
    pub(super) fn poll_wake(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.wakes().map(|wake| wake.at).min() else {
            return Poll::Pending;
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if Sleep::deadline(timer) != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(cx)
    }
}
