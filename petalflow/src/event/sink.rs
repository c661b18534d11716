//! The receivers of events: the stream of this run, or the run of the parent flow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::{CustomEvent, Event, EventKind, NestedEvent, TaskInfo};
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
}

/// Copies a state for a listener.
pub(crate) type CopyState<S> = fn(&S) -> S;

/// The receiver of the events of a run over `S`.
pub(crate) enum Sink<S: State> {
    Queue {
        events: Mutex<VecDeque<Event<S>>>,
        /// Copies the state, if the listener wants it.
        copy_state: OnceLock<CopyState<S>>,
    },
    Parent {
        listener: Arc<dyn Listener>,
        copy_state: Option<CopyState<S>>,
    },
}

impl<S: State> Sink<S> {
    pub(crate) fn queue() -> Arc<Self> {
        Arc::new(Sink::Queue {
            events: Mutex::default(),
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
        }
    }

    pub(crate) fn send(&self, event: Event<S>) {
        match self {
            Sink::Queue { events, .. } => lock(events).push_back(event),
            Sink::Parent { listener, .. } => listener.nested(
                event.namespace.clone(),
                event.superstep,
                event.task.clone(),
                NestedEvent::of(event),
            ),
        }
    }

    pub(crate) fn pop(&self) -> Option<Event<S>> {
        match self {
            Sink::Queue { events, .. } => lock(events).pop_front(),
            Sink::Parent { .. } => None,
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
            Sink::Queue { .. } => self.send(Event {
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
        }
    }
}

fn lock<T>(queue: &Mutex<VecDeque<T>>) -> MutexGuard<'_, VecDeque<T>> {
    // A panic cannot leave the queue in an inconsistent state.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
