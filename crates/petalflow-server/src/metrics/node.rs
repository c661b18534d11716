//! Nodes that begin and end.

use std::sync::Arc;

use petalflow::event::{Event, EventKind, TaskId};
use petalflow::state::State;

/// A node of the flow itself has begun or ended.
pub(crate) struct NodeEvent {
    pub(super) task: TaskId,
    pub(super) node: Arc<str>,
    pub(super) step: Step,
}

#[derive(Clone, Copy)]
pub(super) enum Step {
    Begun,
    Ended(&'static str),
}

impl NodeEvent {
    pub(crate) fn of<S: State>(event: &Event<S>) -> Option<Self> {
        let task = event.task.as_ref()?;
        let step = match &event.kind {
            EventKind::NodeStarted => Step::Begun,
            EventKind::NodeFinished { .. } => Step::Ended("finished"),
            EventKind::NodeFailed { .. } => Step::Ended("failed"),
            _ => return None,
        };
        Some(NodeEvent {
            task: task.id,
            node: Arc::clone(&task.node),
            step,
        })
    }
}
