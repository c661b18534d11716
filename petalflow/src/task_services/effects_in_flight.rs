//! The effects of `once` that are in flight: a task is not dropped for a question, or because another task failed, before the
//! results of its effects are recorded.

use std::task::{Context, Poll, Waker};

use super::{TaskRef, TaskServices};
use crate::error::BoxError;
use crate::ids::TaskId;

/// An effect that was called. Dropped when its result is recorded, or when it is known that it will not be.
pub(super) struct CalledEffect<'a> {
    services: &'a TaskServices,
    task: TaskId,
    has_begun: bool,
}

impl TaskServices {
    /// This run and those around it, with the task in each.
    pub(super) fn lineage<'s>(
        &'s self,
        task: TaskId,
    ) -> impl Iterator<Item = (&'s TaskServices, TaskId)> {
        let parent = |at: &(&'s TaskServices, TaskId)| {
            let parent = at.0.parent.as_ref()?;
            Some((&*parent.services, parent.id))
        };
        std::iter::successors(Some((self, task)), parent)
    }

    /// An effect was called. The task waits for no person before it has ended.
    pub(super) fn call_effect(&self, task: TaskId) -> CalledEffect<'_> {
        for (services, task) in self.lineage(task) {
            let mut inner = services.lock();
            inner.in_flight.of_tasks.entry(task).or_default().called += 1;
        }
        CalledEffect {
            services: self,
            task,
            has_begun: false,
        }
    }

    /// No other effect of this run begins. Returns whether some are in flight.
    pub(crate) fn close_effects(&self) -> bool {
        let mut inner = self.lock();
        inner.in_flight.closed = true;
        !inner.in_flight.of_tasks.is_empty()
    }

    /// Completes when no effect is in flight, except for those of tasks that have a result.
    pub(crate) fn poll_effects(
        &self,
        cx: &Context<'_>,
        has_result: impl Fn(TaskId) -> bool,
    ) -> Poll<()> {
        let mut inner = self.lock();
        let mut of_tasks = inner.in_flight.of_tasks.iter();
        if of_tasks.all(|(task, count)| count.begun == 0 || has_result(*task)) {
            return Poll::Ready(());
        }
        inner.driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl CalledEffect<'_> {
    /// The effect begins, unless the run ends: then this completes with an error when the attempt is over.
    pub(super) async fn begin(&mut self, task: &TaskRef<'_>) -> Result<(), BoxError> {
        let mut lineage = self.services.lineage(self.task);
        if lineage.any(|(services, _)| services.lock().in_flight.closed) {
            return Err(task.wait_until_over("once").await);
        }
        for (services, task) in self.services.lineage(self.task) {
            let mut inner = services.lock();
            inner.in_flight.of_tasks.entry(task).or_default().begun += 1;
        }
        self.has_begun = true;
        Ok(())
    }
}

impl Drop for CalledEffect<'_> {
    fn drop(&mut self) {
        for (services, task) in self.services.lineage(self.task) {
            let mut inner = services.lock();
            let Some(count) = inner.in_flight.of_tasks.get_mut(&task) else {
                continue;
            };
            count.called -= 1;
            count.begun -= usize::from(self.has_begun);
            let mut wakers = Vec::new();
            if count.called == 0 {
                inner.in_flight.of_tasks.remove(&task);
                // The task may have waited only for this effect.
                wakers.extend(inner.tasks.remove(&task));
            }
            if inner.in_flight.closed {
                wakers.extend(inner.driver.take());
            }
            drop(inner);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}
