//! The effects that are being polled on this thread: which of them a request to a model is made in.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ids::TaskId;

thread_local! {
    /// The innermost one last.
    static POLLED: RefCell<Vec<(TaskId, String)>> = const { RefCell::new(Vec::new()) };
}

/// The names of the effects of a task that are being polled, the innermost one last.
pub(super) fn names(task: TaskId) -> Vec<String> {
    POLLED.with_borrow(|polled| {
        let own = polled.iter().filter(|(id, _)| *id == task);
        own.map(|(_, name)| name.clone()).collect()
    })
}

/// An effect. What it does on this thread while it is polled is done within it.
pub(super) struct Within<'a, F> {
    task: TaskId,
    name: &'a str,
    effect: Pin<&'a mut F>,
}

impl<'a, F: Future> Within<'a, F> {
    pub(super) fn new(task: TaskId, name: &'a str, effect: Pin<&'a mut F>) -> Self {
        Within { task, name, effect }
    }

    /// Waits until the effect ends, or until `is_enough` says so after a poll.
    #[cfg(feature = "engine")]
    pub(super) async fn until(mut self, is_enough: impl Fn() -> bool) {
        std::future::poll_fn(|cx| {
            let poll = Pin::new(&mut self).poll(cx);
            if poll.is_ready() || is_enough() {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _polled = Polled::push(self.task, self.name);
        self.effect.as_mut().poll(cx)
    }
}

/// Removes the effect when the poll ends, with a panic too.
struct Polled;

impl Polled {
    fn push(task: TaskId, name: &str) -> Self {
        POLLED.with_borrow_mut(|polled| polled.push((task, name.into())));
        Polled
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        POLLED.with_borrow_mut(|polled| drop(polled.pop()));
    }
}
