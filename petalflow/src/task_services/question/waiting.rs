//! A task that has asked waits for its answer, or one that sleeps for its time, and its run stops.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::waiting_question::{TaskQuestions, WaitingQuestion};
use crate::ids::TaskId;
use crate::question::{Interrupt, InterruptId};
use crate::task_services::wake::Wake;
use crate::task_services::{DriverRequest, TaskRef, TaskServices};

/// Runs a task of a stored run until it ends, or until it is pending, has asked or sleeps, and has no effect in flight: then the
/// result is `None`, and the caller drops the task. `id` makes its id, which most tasks do not need, because they end when they are polled first.
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
    /// Completes when the task waits for an answer or a time, and for nothing else that must not be dropped.
    fn poll_waiting(&self, task: TaskId, cx: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        let asked = inner.questions.get(&task);
        if asked.is_some_and(|asked| asked.is_waiting) && !inner.in_flight.is_in_flight(task) {
            return Poll::Ready(());
        }
        inner.tasks.insert(task, cx.waker().clone());
        Poll::Pending
    }

    /// Whether the task, or a sub-flow of it, has got an answer in this run.
    pub(crate) fn was_answered(&self, task: TaskId) -> bool {
        self.lock().answered.contains(&task)
    }

    /// Whether any task has asked a question that has no answer yet, or sleeps.
    pub(crate) fn has_questions(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Removes the questions of a task that ended without their answers.
    fn withdraw(&self, task: TaskId) {
        let mut inner = self.lock();
        let asked = inner.questions.remove(&task).unwrap_or_default();
        inner.tasks.remove(&task);
        drop(inner);
        self.storage.links.leave_messages(task);
        if let Some(parent) = &self.parent {
            let open = asked.open.iter().map(|question| question.interrupt.id);
            parent.withdraw(&open.collect::<Vec<_>>());
        }
    }

    /// Removes what a sub-flow of the task does not wait for any more.
    pub(super) fn withdraw_announced(&self, task: TaskId, interrupts: &[InterruptId]) {
        if let Some(asked) = self.lock().questions.get_mut(&task) {
            let open = &mut asked.open;
            open.retain(|question| !interrupts.contains(&question.interrupt.id));
        }
        if let Some(parent) = &self.parent {
            parent.withdraw(interrupts);
        }
    }

    /// Makes the task wait for answers. The run stops when no other task runs any more.
    pub(crate) fn wait_for(&self, task: &TaskRef<'_>, interrupts: Vec<Interrupt>) {
        let questions = interrupts.into_iter().map(|interrupt| WaitingQuestion {
            node: task.at,
            index: task.index,
            task: task.id,
            interrupt,
        });
        self.add_questions(task.id, questions, true);
    }

    /// The tasks of a node wait for an approval, which they share.
    pub(crate) fn wait_for_approval(&self, approval: WaitingQuestion) {
        self.add_questions(approval.task, std::iter::once(approval), true);
    }

    /// Adds questions of a task, and asks the driver to tell them.
    pub(super) fn add_questions(
        &self,
        task: TaskId,
        questions: impl Iterator<Item = WaitingQuestion>,
        is_waiting: bool,
    ) {
        self.asked.store(true, Ordering::Release);
        let mut inner = self.lock();
        let asked = inner.questions.entry(task).or_default();
        asked.is_waiting |= is_waiting;
        let mut is_new = false;
        for question in questions {
            is_new |= asked.add(question);
        }
        if is_new {
            inner.request(DriverRequest::Tell);
        }
        if is_waiting && let Some(waker) = inner.tasks.remove(&task) {
            waker.wake();
        }
    }

    /// Completes when tasks that wait have got an answer, or their time has come. They run again.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<Vec<TaskId>> {
        if !self.has_questions() {
            return Poll::Pending;
        }
        // First, so that no answer is missed.
        self.answers.wake_when_added(cx);
        let ready = self.ready_tasks();
        if !ready.is_empty() {
            return Poll::Ready(ready);
        }
        let mut woken = self.lock().poll_wake(cx);
        if woken.is_pending() {
            woken = self.poll_arrival(cx);
        }
        woken.map(|()| self.ready_tasks())
    }

    /// The tasks that wait and have got an answer, or whose time has come.
    pub(crate) fn ready_tasks(&self) -> Vec<TaskId> {
        let inner = self.lock();
        let is_answered = |question: &WaitingQuestion| self.answers.has(question.interrupt.id);
        let is_ready = |waits: &TaskQuestions| {
            waits.wake.is_some_and(Wake::is_due) || waits.open.iter().any(is_answered)
        };
        let waiting = inner.questions.iter();
        let ready = waiting.filter(|(_, waits)| waits.is_waiting && is_ready(waits));
        ready.map(|(task, _)| *task).collect()
    }

    /// A task that has got an answer runs again, from its beginning.
    pub(crate) fn run_again(&self, task: TaskId) {
        let mut inner = self.lock();
        let asked = inner.questions.remove(&task).unwrap_or_default();
        // What it asks again expires when it would have.
        let open = asked.open.into_iter().map(|question| question.interrupt);
        inner.asked_before.extend(open.map(|open| (open.id, open)));
        inner.tasks.remove(&task);
        inner.used_names.retain(|(used_by, ..)| *used_by != task);
        drop(inner);
        self.storage.links.leave_messages(task);
    }

    /// Leaves the task without a result, as if it waited for an answer.
    #[cfg(feature = "engine")]
    pub(crate) fn leave(&self, task: TaskId) {
        let mut inner = self.lock();
        inner.questions.entry(task).or_default().is_waiting = true;
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

    /// When the question was first asked, if the superstep has asked it before.
    pub(crate) fn first_asked_ms(&self, id: InterruptId) -> Option<u64> {
        let inner = self.lock();
        inner.asked_before.get(&id).map(|asked| asked.asked_ms)
    }

    /// The questions without an answer. Those of one task are in the order in which it asked.
    pub(crate) fn open_questions(&self) -> Vec<WaitingQuestion> {
        if !self.has_questions() {
            return Vec::new();
        }
        let inner = self.lock();
        let asked = inner.questions.values().flat_map(|asked| &asked.open);
        let open = asked.filter(|question| !self.answers.has(question.interrupt.id));
        open.cloned().collect()
    }

    /// Takes the questions without an answer.
    pub(crate) fn questions(&self) -> Vec<WaitingQuestion> {
        let open = self.open_questions();
        if self.has_questions() {
            self.lock().questions.clear();
        }
        open
    }

    /// The run takes no more answers. Returns `false` if it was given some that it has to record first.
    pub(crate) fn close_questions(&self) -> bool {
        self.live.as_ref().is_none_or(|live| live.close())
    }
}
