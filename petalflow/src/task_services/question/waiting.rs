//! A task that has asked waits for its answer, and its run stops.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::waiting_question::WaitingQuestion;
use crate::ids::TaskId;
use crate::question::{Interrupt, InterruptId};
use crate::task_services::{TaskRef, TaskServices};

/// Runs a task of a stored run until it ends, or until it is pending, has asked, and has no effect in flight: then the result is
/// `None`, and the caller drops the task. `id` makes its id, which most tasks do not need, because they end when they are polled first.
pub(crate) async fn until_asked<T>(
    services: &TaskServices,
    id: impl Fn() -> TaskId,
    mut task: Pin<&mut (impl Future<Output = T> + Send + ?Sized)>,
) -> Option<T> {
    let mut pending = None;
    let output = poll_fn(|cx| match task.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => {
            let task = *pending.get_or_insert_with(&id);
            services.poll_waiting(task, cx).map(|()| None)
        }
    })
    .await?;
    if pending.is_some() || services.has_questions() {
        // The task ended without the answer, for example because it asked in a `select!`.
        services.withdraw(pending.unwrap_or_else(id));
    }
    Some(output)
}

impl TaskServices {
    /// Completes when the task waits for an answer, and for nothing else that must not be dropped.
    fn poll_waiting(&self, task: TaskId, cx: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        if inner.questions.contains_key(&task) && !inner.in_flight.is_in_flight(task) {
            return Poll::Ready(());
        }
        inner.tasks.insert(task, cx.waker().clone());
        Poll::Pending
    }

    /// Whether the task, or a sub-flow of it, has got an answer in this run.
    pub(crate) fn was_answered(&self, task: TaskId) -> bool {
        self.lock().answered.contains(&task)
    }

    /// Whether any task has asked a question that has no answer yet.
    pub(crate) fn has_questions(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Removes the questions of a task that ended without their answers.
    fn withdraw(&self, task: TaskId) {
        let mut inner = self.lock();
        inner.questions.remove(&task);
        inner.tasks.remove(&task);
    }

    /// Makes the task wait for answers. The run stops when no other task runs any more.
    pub(crate) fn wait_for(&self, task: &TaskRef<'_>, interrupts: Vec<Interrupt>) {
        self.asked.store(true, Ordering::Release);
        let mut inner = self.lock();
        let questions = inner.questions.entry(task.id).or_default();
        for interrupt in interrupts {
            // A future that is dropped and made again asks the same question again.
            if !questions
                .iter()
                .any(|known| known.interrupt.id == interrupt.id)
            {
                questions.push(WaitingQuestion {
                    node: task.at,
                    index: task.index,
                    task: task.id,
                    interrupt,
                });
            }
        }
        if let Some(waker) = inner.tasks.remove(&task.id) {
            waker.wake();
        }
    }

    /// Leaves the task without a result, as if it waited for an answer.
    #[cfg(feature = "engine")]
    pub(crate) fn leave(&self, task: TaskId) {
        let mut inner = self.lock();
        inner.questions.entry(task).or_default();
        if let Some(waker) = inner.tasks.remove(&task) {
            waker.wake();
        }
    }

    /// The superstep ends like one whose tasks wait: the results of the tasks that have ended are recorded, and it is not committed.
    #[cfg(feature = "engine")]
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::Release);
        self.asked.store(true, Ordering::Release);
    }

    /// Whether the superstep is not to be committed.
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// When the question was first asked, if an earlier run of the superstep asked it.
    pub(crate) fn first_asked_ms(&self, id: InterruptId) -> Option<u64> {
        let inner = self.lock();
        inner.asked_before.get(&id).map(|asked| asked.asked_ms)
    }

    /// Takes the questions without an answer. Those of one task are in the order in which it asked.
    pub(crate) fn questions(&self) -> Vec<WaitingQuestion> {
        if !self.has_questions() {
            return Vec::new();
        }
        let questions = std::mem::take(&mut self.lock().questions);
        questions.into_values().flatten().collect()
    }
}
