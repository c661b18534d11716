//! The events of a pass.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::ENDS;
use super::event::StreamedEvent;
use super::publisher::Publisher;
use crate::clock::now_ms;
use crate::erased::CopyState;
use crate::event::{AnyEvent, EventKind, Sink, TaskInfo};
use crate::ids::{Namespace, TaskId};

/// What a pass does, which decides which of its events count.
#[derive(Clone)]
pub(in crate::engine) enum Role {
    /// It runs a superstep, without the tasks of these nodes.
    Superstep(Arc<BTreeMap<String, String>>),
    /// It runs one task.
    Task(TaskId),
}

/// Publishes the events of a pass.
pub(in crate::engine) struct PassEvents {
    pub(in crate::engine) publisher: Arc<Publisher>,
    pub(in crate::engine) role: Role,
    pub(in crate::engine) thread: String,
    /// The checkpoint that the superstep builds on.
    pub(in crate::engine) checkpoint: u64,
    /// Whether no superstep was executed since the last input or answer.
    pub(in crate::engine) is_first: bool,
    pub(in crate::engine) attempt: u64,
    /// The number of the next event.
    pub(in crate::engine) sequence: Mutex<u64>,
}

impl Role {
    /// That of a pass that runs a superstep without the tasks of placed nodes, or this task of it.
    pub(in crate::engine) fn of(
        task: Option<TaskId>,
        placed: &Arc<BTreeMap<String, String>>,
    ) -> Self {
        task.map_or_else(|| Role::Superstep(Arc::clone(placed)), Role::Task)
    }

    /// Whether an event says something of the thread. A pass is a run that begins, does one thing, and stops: its beginning and its
    /// end are no news of the thread, except for the beginning of the first one of a turn.
    pub(in crate::engine) fn counts(
        &self,
        is_first: bool,
        namespace: &Namespace,
        kind: &str,
        task: Option<&TaskInfo>,
    ) -> bool {
        let of_barrier = ["checkpoint", "superstep_finished"];
        if !namespace.as_str().is_empty() {
            // A sub-flow is a part of a task: what its nodes say counts.
            return task.is_some();
        }
        if ENDS.contains(&kind) {
            return false;
        }
        if kind == "run_started" {
            return is_first;
        }
        match (self, task) {
            // The process that runs the task says that it has started.
            (Role::Superstep(placed), Some(task)) => {
                kind != "node_started" || !placed.contains_key(&*task.node)
            }
            (Role::Superstep(_), None) => true,
            (Role::Task(id), Some(task)) => task.id == *id,
            (Role::Task(_), None) => !of_barrier.contains(&kind),
        }
    }
}

impl Sink for PassEvents {
    fn send(&self, event: AnyEvent) {
        let kind = match &event.kind {
            EventKind::Nested(nested) => nested.name(),
            kind => kind.name(),
        };
        let task = event.task.as_ref();
        if !self
            .role
            .counts(self.is_first, &event.namespace, kind, task)
        {
            return;
        }
        let Some((kind, value)) = event.stored_entry() else {
            return;
        };
        let event = StreamedEvent {
            thread: self.thread.clone(),
            checkpoint: self.checkpoint,
            superstep: event.superstep,
            task: event.task.map(|task| task.id),
            attempt: self.attempt,
            sequence: 0,
            recorded_ms: now_ms(),
            kind,
            value,
        };
        self.publisher.publish_next(&self.sequence, event);
    }

    fn copy_state(&self) -> Option<CopyState> {
        None
    }

    fn wants_values(&self) -> bool {
        false
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn keeps_log(&self) -> bool {
        true
    }

    fn poll_received(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}
