//! Why a run cannot go on.

use super::guard::Stop;
use crate::error::{BoxError, NodeError};
use crate::ids::TaskId;
use crate::outcome::{RunErrorKind, ThreadError};
use crate::state::{State, WriteError};

/// Why a run cannot go on. Behind a pointer: every step of a run returns one or nothing, and nearly always nothing.
pub(crate) struct Broken<S: State>(Box<Cause<S>>);

/// What stopped a run, and what it leaves.
pub(crate) struct Cause<S: State> {
    pub(super) kind: RunErrorKind,
    pub(super) source: Option<BoxError>,
    /// What siblings had finished.
    pub(super) pending: Vec<(String, S::Update)>,
    /// The task that failed.
    pub(super) task: Option<TaskId>,
}

impl<S: State> Broken<S> {
    pub(super) fn new(kind: RunErrorKind) -> Self {
        Broken(Box::new(Cause {
            kind,
            source: None,
            pending: Vec::new(),
            task: None,
        }))
    }

    /// The same, caused by this.
    pub(super) fn by(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same, with what siblings had finished.
    pub(super) fn beside(mut self, pending: Vec<(String, S::Update)>) -> Self {
        self.0.pending = pending;
        self
    }

    pub(super) fn of_thread(error: ThreadError) -> Self {
        let problem = error.to_string();
        Self::new(RunErrorKind::Thread { problem }).by(error)
    }

    /// A task could not write to the thread.
    pub(super) fn of_task(problem: String, source: BoxError) -> Self {
        Self::new(RunErrorKind::Thread { problem }).by(source)
    }

    /// A task failed for good; its id where the run is stored.
    pub(super) fn of_node(error: NodeError, source: BoxError, task: Option<TaskId>) -> Self {
        let mut broken = Self::new(RunErrorKind::Node(error)).by(source);
        broken.0.task = task;
        broken
    }

    pub(super) fn into_cause(self) -> Cause<S> {
        *self.0
    }

    /// Whether the run has stopped in order to go on later.
    pub(super) fn is_pause(&self) -> bool {
        matches!(
            self.0.kind,
            RunErrorKind::Interrupted { .. } | RunErrorKind::Drained { .. }
        )
    }

    /// The failure of a node, if that is what broke the run.
    pub(super) fn failure(&self) -> Option<(TaskId, &NodeError)> {
        match &self.0.kind {
            RunErrorKind::Node(error) => Some((self.0.task?, error)),
            _ => None,
        }
    }

    pub(super) fn refused(nodes: Vec<String>, error: WriteError) -> Self {
        let problem = error.to_string();
        Self::new(RunErrorKind::Write { nodes, problem }).by(error)
    }
}

impl From<Stop> for RunErrorKind {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => RunErrorKind::Cancelled,
            Stop::RunTimeout => RunErrorKind::Timeout { of: "run" },
            Stop::SuperstepTimeout => RunErrorKind::Timeout { of: "superstep" },
        }
    }
}
