//! The receivers of events: the stream of this run, or the run of the parent flow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{CustomEvent, Event, EventKind, LogBuffer, NestedEvent, TaskInfo};
use crate::ids::Namespace;
use crate::state::State;

/// Receives events without the type of the state.
pub(crate) trait Listener: Send + Sync {
    /// A node emitted a value.
    fn custom(&self, namespace: Namespace, superstep: u64, task: TaskInfo, event: CustomEvent);

    /// A sub-flow emitted an event.
    fn nested(
        &self,
        namespace: Namespace,
        superstep: u64,
        task: Option<TaskInfo>,
        event: NestedEvent,
    );

    /// Whether to send states, which are cloned for each event.
    fn wants_values(&self) -> bool;

    /// Completes when the stream has returned all events.
    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()>;
}

/// Copies a state for a listener.
pub(crate) type CopyState<S> = fn(&S) -> S;

/// Events that the stream has not returned yet, and the tasks that wait until it has.
pub(crate) struct Queue<S: State> {
    events: VecDeque<Event<S>>,
    waiting: Vec<Waker>,
    /// Whether the stream polls the run. It then looks for events itself.
    polling: bool,
    /// Wakes the task that awaits the stream, for events of nodes on other threads.
    stream: Option<Waker>,
}

/// The receiver of the events of a run over `S`.
pub(crate) enum Sink<S: State> {
    Queue {
        events: Mutex<Queue<S>>,
        /// Copies the state, if the listener wants it.
        copy_state: OnceLock<CopyState<S>>,
    },
    Parent {
        listener: Arc<dyn Listener>,
        copy_state: Option<CopyState<S>>,
    },
    /// Of a thread with an event log.
    Logged {
        log: Arc<LogBuffer>,
        listener: Option<Arc<Self>>,
    },
}

impl<S: State> Sink<S> {
    pub(crate) fn queue() -> Arc<Self> {
        Arc::new(Sink::Queue {
            events: Mutex::new(Queue {
                events: VecDeque::new(),
                waiting: Vec::new(),
                polling: false,
                stream: None,
            }),
            copy_state: OnceLock::new(),
        })
    }

    /// Requests states. Must be called before the run begins.
    pub(crate) fn want_values(&self, copy: CopyState<S>) {
        if let Sink::Queue { copy_state, .. } = self {
            let _ = copy_state.set(copy);
        }
    }

    /// Copies the state, if the listener wants it.
    pub(crate) fn copy_state(&self) -> Option<CopyState<S>> {
        match self {
            Sink::Queue { copy_state, .. } => copy_state.get().copied(),
            Sink::Parent { copy_state, .. } => *copy_state,
            Sink::Logged { listener, .. } => listener.as_ref()?.copy_state(),
        }
    }

    pub(crate) fn send(&self, event: Event<S>) {
        match self {
            Sink::Queue { events, .. } => {
                let mut queue = lock(events);
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
            Sink::Parent { listener, .. } => listener.nested(
                event.namespace.clone(),
                event.superstep,
                event.task.clone(),
                NestedEvent::of(event),
            ),
            Sink::Logged { log, listener } => {
                log.record(&event);
                if let Some(listener) = listener {
                    listener.send(event);
                }
            }
        }
    }

    /// The next event, before the stream polls the run.
    pub(crate) fn begin_poll(&self) -> Option<Event<S>> {
        self.pop(|queue, is_empty| queue.polling = is_empty)
    }

    /// The next event, after the stream has polled the run. Without one, the task is woken when there is one.
    pub(crate) fn end_poll(&self, cx: &Context<'_>) -> Option<Event<S>> {
        self.pop(|queue, is_empty| {
            queue.polling = false;
            let known = queue.stream.as_ref();
            if is_empty && !known.is_some_and(|stream| stream.will_wake(cx.waker())) {
                queue.stream = Some(cx.waker().clone());
            }
        })
    }

    fn pop(&self, change: impl FnOnce(&mut Queue<S>, bool)) -> Option<Event<S>> {
        match self {
            Sink::Queue { events, .. } => {
                let mut queue = lock(events);
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
            Sink::Parent { .. } | Sink::Logged { .. } => None,
        }
    }
}

impl<S: State> Listener for Sink<S> {
    fn custom(&self, namespace: Namespace, superstep: u64, task: TaskInfo, event: CustomEvent) {
        self.send(Event {
            namespace,
            superstep,
            task: Some(task),
            kind: EventKind::Custom(event),
        });
    }

    fn nested(
        &self,
        namespace: Namespace,
        superstep: u64,
        task: Option<TaskInfo>,
        event: NestedEvent,
    ) {
        match self {
            Sink::Queue { .. } | Sink::Logged { .. } => self.send(Event {
                namespace,
                superstep,
                task,
                kind: EventKind::Nested(event),
            }),
            Sink::Parent { listener, .. } => listener.nested(namespace, superstep, task, event),
        }
    }

    fn wants_values(&self) -> bool {
        match self {
            Sink::Queue { copy_state, .. } => copy_state.get().is_some(),
            Sink::Parent { listener, .. } => listener.wants_values(),
            Sink::Logged { listener, .. } => {
                let listener = listener.as_ref();
                listener.is_some_and(|listener| listener.wants_values())
            }
        }
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Sink::Queue { events, .. } => {
                let mut queue = lock(events);
                if queue.events.is_empty() {
                    return Poll::Ready(());
                }
                if !queue
                    .waiting
                    .iter()
                    .any(|waker| waker.will_wake(cx.waker()))
                {
                    queue.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
            Sink::Parent { listener, .. } => listener.poll_received(cx),
            Sink::Logged { listener, .. } => {
                let listener = listener.as_ref();
                listener.map_or(Poll::Ready(()), |listener| listener.poll_received(cx))
            }
        }
    }
}

fn lock<S: State>(queue: &Mutex<Queue<S>>) -> MutexGuard<'_, Queue<S>> {
    // A panic cannot leave the queue in an inconsistent state.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
