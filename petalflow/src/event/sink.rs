//! The receivers of the events of a run: the [queue](super::EventQueue) of a stream, the run of the parent flow, and the event
//! log.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::log::LogEntry;
use super::{AnyEvent, AnyEventKind, CustomEvent, LogBuffer, NestedEvent, TaskInfo};
use crate::erased::CopyState;
use crate::ids::Namespace;

/// Where an event comes from.
pub(crate) struct Origin {
    pub(crate) namespace: Namespace,
    pub(crate) superstep: u64,
    pub(crate) task: Option<TaskInfo>,
}

impl Origin {
    pub(crate) fn event(self, kind: AnyEventKind) -> AnyEvent {
        AnyEvent {
            namespace: self.namespace,
            superstep: self.superstep,
            task: self.task,
            kind,
        }
    }
}

/// Receives the events of a run.
pub(crate) trait Sink: Send + Sync {
    fn send(&self, event: AnyEvent);

    /// A node emitted a value.
    fn custom(&self, from: Origin, event: CustomEvent) {
        self.send(from.event(AnyEventKind::Custom(event)));
    }

    /// A sub-flow emitted an event.
    fn nested(&self, from: Origin, event: NestedEvent) {
        self.send(from.event(AnyEventKind::Nested(event)));
    }

    /// Copies the state, if the receiver wants it.
    fn copy_state(&self) -> Option<CopyState>;

    /// Whether to send states, which are copied for each event.
    fn wants_values(&self) -> bool;

    /// Whether to send the events of progress, which have no content: see [`EventKind::is_progress`](super::EventKind::is_progress).
    fn wants_progress(&self) -> bool;

    /// Whether it stores events.
    fn keeps_log(&self) -> bool {
        false
    }

    /// Completes when the stream has returned all events.
    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()>;
}

/// Sends the events of a sub-flow to the receiver of its parent.
pub(crate) struct ParentSink {
    pub(crate) listener: Arc<dyn Sink>,
    pub(crate) copy_state: Option<CopyState>,
    /// Makes an event for the parent, whose type the receiver can ask for.
    pub(crate) nest: fn(AnyEvent, Option<LogEntry>) -> NestedEvent,
}

impl Sink for ParentSink {
    fn send(&self, event: AnyEvent) {
        let from = Origin {
            namespace: event.namespace.clone(),
            superstep: event.superstep,
            task: event.task.clone(),
        };
        let entry = if self.listener.keeps_log() {
            event.stored_entry()
        } else {
            None
        };
        self.listener.nested(from, (self.nest)(event, entry));
    }

    fn nested(&self, from: Origin, event: NestedEvent) {
        self.listener.nested(from, event);
    }

    fn copy_state(&self) -> Option<CopyState> {
        self.copy_state
    }

    fn wants_values(&self) -> bool {
        self.listener.wants_values()
    }

    fn wants_progress(&self) -> bool {
        self.listener.wants_progress()
    }

    fn keeps_log(&self) -> bool {
        self.listener.keeps_log()
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.listener.poll_received(cx)
    }
}

/// Stores the events of a run, and sends them on if there is a listener.
pub(crate) struct LogSink {
    pub(crate) log: Arc<LogBuffer>,
    pub(crate) listener: Option<Arc<dyn Sink>>,
}

impl Sink for LogSink {
    fn send(&self, event: AnyEvent) {
        self.log.record(&event);
        if let Some(listener) = &self.listener
            && (listener.wants_progress() || !event.kind.is_progress())
        {
            listener.send(event);
        }
    }

    fn copy_state(&self) -> Option<CopyState> {
        self.listener.as_ref()?.copy_state()
    }

    fn wants_values(&self) -> bool {
        let listener = self.listener.as_ref();
        listener.is_some_and(|listener| listener.wants_values())
    }

    fn wants_progress(&self) -> bool {
        // The log has all events.
        true
    }

    fn keeps_log(&self) -> bool {
        true
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<()> {
        let listener = self.listener.as_ref();
        listener.map_or(Poll::Ready(()), |listener| listener.poll_received(cx))
    }
}
