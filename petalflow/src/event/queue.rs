//! The queue between a run and the stream of its events.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use super::AnyEvent;
use super::newest_superstep::NewestSuperstep;
use super::sink::Sink;
use crate::erased::CopyState;

/// The events of a run that its stream has not returned yet.
pub(crate) struct EventQueue {
    queue: Mutex<Queue>,
    /// Copies the state, if the listener wants it.
    copy_state: OnceLock<CopyState>,
    without_progress: AtomicBool,
    pub(crate) newest_superstep: NewestSuperstep,
}

struct Queue {
    events: VecDeque<AnyEvent>,
    /// The tasks that wait until the stream has returned all events.
    waiting: Vec<Waker>,
    /// Whether the stream polls the run. It then looks for events itself.
    polling: bool,
    /// Wakes the task that awaits the stream, for events of nodes on other threads.
    stream: Option<Waker>,
}

impl EventQueue {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(EventQueue {
            queue: Mutex::new(Queue {
                events: VecDeque::new(),
                waiting: Vec::new(),
                polling: false,
                stream: None,
            }),
            copy_state: OnceLock::new(),
            without_progress: AtomicBool::new(false),
            newest_superstep: NewestSuperstep::default(),
        })
    }

    /// Requests states. Must be called before the run begins.
    pub(crate) fn want_values(&self, copy: CopyState) {
        let _ = self.copy_state.set(copy);
    }

    /// Leaves out the events of progress. The run reads this where it would make one.
    pub(crate) fn leave_out_progress(&self) {
        self.without_progress.store(true, Ordering::Relaxed);
    }

    /// The next event, before the stream polls the run.
    pub(crate) fn begin_poll(&self) -> Option<AnyEvent> {
        self.pop(|queue, is_empty| queue.polling = is_empty)
    }

    /// The next event, after the stream has polled the run. Without one, the task is woken when there is one.
    pub(crate) fn end_poll(&self, cx: &Context<'_>) -> Option<AnyEvent> {
        self.pop(|queue, is_empty| {
            queue.polling = false;
            let known = queue.stream.as_ref();
            if is_empty && !known.is_some_and(|stream| stream.will_wake(cx.waker())) {
                queue.stream = Some(cx.waker().clone());
            }
        })
    }

    fn pop(&self, change: impl FnOnce(&mut Queue, bool)) -> Option<AnyEvent> {
        let mut queue = self.lock();
        let event = queue.events.pop_front();
        change(&mut queue, event.is_none());
        if queue.events.is_empty() && !queue.waiting.is_empty() {
            let waiting = std::mem::take(&mut queue.waiting);
            drop(queue);
            // The task that was woken last is polled first, so this is the order in which they began to wait.
            waiting.into_iter().rev().for_each(Waker::wake);
        }
        event
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic cannot leave the queue in an inconsistent state.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for EventQueue {
    fn send(&self, event: AnyEvent) {
        self.newest_superstep.update(&event);
        let mut queue = self.lock();
        queue.events.push_back(event);
        let stream = if queue.polling {
            None
        } else {
            queue.stream.take()
        };
        drop(queue);
        if let Some(stream) = stream {
            stream.wake();
        }
    }

    fn copy_state(&self) -> Option<CopyState> {
        self.copy_state.get().copied()
    }

    fn wants_values(&self) -> bool {
        self.copy_state.get().is_some()
    }

    fn wants_progress(&self) -> bool {
        !self.without_progress.load(Ordering::Relaxed)
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.events.is_empty() {
            return Poll::Ready(());
        }
        let waiting = &mut queue.waiting;
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}
