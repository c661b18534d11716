//! Threads that tasks of other threads have started.

use std::time::Duration;

use super::AnyThread;
use crate::checkpoint::StoreError;
use crate::durable::{self, Begins, ThreadEnd};
use crate::erased::InputBox;
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::task_services::{TaskRef, TaskServices};
use crate::thread::JoinError;

/// How long a task waits at least and at most before it looks at another thread again.
const LOOKS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(10));

/// How long to wait for a claim on a thread that another task begins at this moment.
const BEGINS: Duration = Duration::from_millis(10);

impl AnyThread {
    /// Begins the thread for a task of another one, unless that has begun it. No run has the thread then: it is due.
    pub(crate) fn begin_as_child(
        &self,
        task: TaskId,
        input: InputBox,
    ) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            let thread = self.threads.refusing_busy().thread(&self.id);
            loop {
                match durable::started_by(&thread.checked()?).await? {
                    Some(by) if by == Some(task) => return Ok(()),
                    Some(_) => return Err(ThreadError::Request(self.of_another())),
                    None => {}
                }
                let (storage, claim) = match thread.claimed().await {
                    Err(ThreadError::Busy { .. }) => {
                        tokio::time::sleep(BEGINS).await;
                        continue;
                    }
                    claimed => claimed?,
                };
                // It may have begun before it was claimed.
                if durable::started_by(&storage).await?.is_some() {
                    continue;
                }
                let flow = &*self.threads.flow;
                let begin = Box::pin(durable::begin_due(
                    flow,
                    &storage,
                    Begins::AsChild(task),
                    input,
                ));
                let begun = ThreadError::catch_panic(begin).await;
                // An engine has no claims, so another pass of the task may have been faster.
                if matches!(&begun, Err(ThreadError::Store(StoreError::Conflict { .. })))
                    && durable::started_by(&storage).await? == Some(Some(task))
                {
                    return Ok(());
                }
                begun?;
                // A waker that is told before would find the thread busy.
                drop(claim);
                durable::tell_due(flow.stored_name());
                return Ok(());
            }
        })
    }

    /// The message about a thread that is to be started, and that something else has begun.
    pub(crate) fn of_another(&self) -> String {
        format!(
            "thread `{}` exists, and this task has not started it: start it with another id; with `cx.task_id()` in it, an id is that of one task",
            self.id
        )
    }

    /// Waits for the end of the thread.
    pub(crate) fn ended<'a>(
        &'a self,
        services: &'a TaskServices,
        task: &'a TaskRef<'_>,
    ) -> BoxFuture<'a, Result<ThreadEnd, BoxError>> {
        Box::pin(async move {
            let look = Box::pin(self.look(services, task));
            let of = (&self.threads.store, &self.id);
            services.join(task, of, look).await?;
            let ended = self.end().await?.0;
            ended.ok_or_else(|| self.unknown().into())
        })
    }

    /// How long to wait before the next look; `None` if the thread has ended.
    async fn look(
        &self,
        services: &TaskServices,
        task: &TaskRef<'_>,
    ) -> Result<Option<Duration>, BoxError> {
        if self.end().await?.0.is_some() {
            return Ok(None);
        }
        let (own, store) = (&services.storage, &self.threads.store);
        if let Some(parent) = durable::address_of(&own.thread, &own.store, store) {
            durable::add_joining(&self.checked()?, task.id, &parent).await?;
        }
        // It may have ended before it could know who waits.
        let (end, created_ms) = self.end().await?;
        if end.is_some() {
            return Ok(None);
        }
        let age_ms = self
            .threads
            .store
            .now_ms()
            .await?
            .saturating_sub(created_ms);
        // So a wait of days has few looks, and none is late by more than half of the wait.
        let wait = Duration::from_millis(age_ms / 2);
        Ok(Some(wait.clamp(LOOKS.0, LOOKS.1)))
    }

    /// How the thread has ended, if it has, and when it was created, in milliseconds since 1970 (UTC).
    async fn end(&self) -> Result<(Option<ThreadEnd>, u64), BoxError> {
        let info = self.info().await?.ok_or_else(|| self.unknown())?;
        Ok((
            durable::end_of(&self.checked()?, &info).await?,
            info.created_ms,
        ))
    }

    pub(crate) fn unknown(&self) -> JoinError {
        JoinError::Unknown {
            thread: self.id.to_string(),
        }
    }
}
