//! The receivers of events. Each is a type of its own, so that a program compiles those that it uses: the [queue](super::EventQueue)
//! of a stream, the run of the parent flow, and the event log.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::{CustomEvent, Event, EventKind, LogBuffer, NestedEvent, TaskInfo};
use crate::ids::Namespace;
use crate::state::State;

/// Where an event comes from.
pub(crate) struct Origin {
    pub(crate) namespace: Namespace,
    pub(crate) superstep: u64,
    pub(crate) task: Option<TaskInfo>,
}

impl Origin {
    pub(crate) fn event<S: State>(self, kind: EventKind<S>) -> Event<S> {
        Event {
            namespace: self.namespace,
            superstep: self.superstep,
            task: self.task,
            kind,
        }
    }
}

/// Receives events without the type of the state.
pub(crate) trait Listener: Send + Sync {
    /// A node emitted a value.
    fn custom(&self, from: Origin, event: CustomEvent);

    /// A sub-flow emitted an event.
    fn nested(&self, from: Origin, event: NestedEvent);

    /// Whether to send states, which are cloned for each event.
    fn wants_values(&self) -> bool;

    /// Whether to send the events of progress, which have no content: see [`EventKind::is_progress`].
    fn wants_progress(&self) -> bool;

    /// Completes when the stream has returned all events.
    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()>;
}

/// Copies a state for a listener.
pub(crate) type CopyState<S> = fn(&S) -> S;

/// Receives the events of a run over `S`.
pub(crate) trait Sink<S: State>: Listener {
    fn send(&self, event: Event<S>);

    /// Copies the state, if the listener wants it.
    fn copy_state(&self) -> Option<CopyState<S>>;
}

/// Sends the events of a sub-flow to the receiver of its parent.
pub(crate) struct ParentSink<S> {
    pub(crate) listener: Arc<dyn Listener>,
    pub(crate) copy_state: Option<CopyState<S>>,
}

impl<S: State> Sink<S> for ParentSink<S> {
    fn send(&self, event: Event<S>) {
        let from = Origin {
            namespace: event.namespace.clone(),
            superstep: event.superstep,
            task: event.task.clone(),
        };
        self.listener.nested(from, NestedEvent::of(event));
    }

    fn copy_state(&self) -> Option<CopyState<S>> {
        self.copy_state
    }
}

impl<S: State> Listener for ParentSink<S> {
    fn custom(&self, from: Origin, event: CustomEvent) {
        self.send(from.event(EventKind::Custom(event)));
    }

    fn nested(&self, from: Origin, event: NestedEvent) {
        self.listener.nested(from, event);
    }

    fn wants_values(&self) -> bool {
        self.listener.wants_values()
    }

    fn wants_progress(&self) -> bool {
        self.listener.wants_progress()
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.listener.poll_received(cx)
    }
}

/// Adds events to the event log of a thread, and sends them to the listener of the run.
pub(crate) struct LogSink<S> {
    pub(crate) log: Arc<LogBuffer>,
    pub(crate) listener: Option<Arc<dyn Sink<S>>>,
}

impl<S: State> Sink<S> for LogSink<S> {
    fn send(&self, event: Event<S>) {
        self.log.record(&event);
        if let Some(listener) = &self.listener
            && (listener.wants_progress() || !event.kind.is_progress())
        {
            listener.send(event);
        }
    }

    fn copy_state(&self) -> Option<CopyState<S>> {
        self.listener.as_ref()?.copy_state()
    }
}

impl<S: State> Listener for LogSink<S> {
    fn custom(&self, from: Origin, event: CustomEvent) {
        self.send(from.event(EventKind::Custom(event)));
    }

    fn nested(&self, from: Origin, event: NestedEvent) {
        self.send(from.event(EventKind::Nested(event)));
    }

    fn wants_values(&self) -> bool {
        let listener = self.listener.as_ref();
        listener.is_some_and(|listener| listener.wants_values())
    }

    fn wants_progress(&self) -> bool {
        // The log has all events.
        true
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        let listener = self.listener.as_ref();
        listener.map_or(Poll::Ready(()), |listener| listener.poll_received(cx))
    }
}
