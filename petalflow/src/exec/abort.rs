//! Why a run cannot go on.

use super::watch::Stop;
use crate::error::{BoxError, NodeError};
use crate::ids::TaskId;
use crate::outcome::{RunErrorKind, ThreadError};
use crate::state::{State, WriteError};

/// Why a run cannot go on. Behind a pointer: every step of a run returns one or nothing, and nearly always nothing.
pub(crate) struct Abort<S: State>(Box<AbortReason<S>>);

/// What stopped a run, and what it leaves.
pub(crate) struct AbortReason<S: State> {
    pub(crate) kind: RunErrorKind,
    pub(crate) source: Option<BoxError>,
    /// What siblings had finished.
    pub(crate) pending: Vec<(String, S::Update)>,
    /// The task that failed.
    pub(crate) task: Option<TaskId>,
}

impl<S: State> Abort<S> {
    pub(crate) fn new(kind: RunErrorKind) -> Self {
        Abort(Box::new(AbortReason {
            kind,
            source: None,
            pending: Vec::new(),
            task: None,
        }))
    }

    /// The same, caused by this.
    pub(crate) fn by(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same, with what siblings had finished.
    pub(crate) fn beside(mut self, pending: Vec<(String, S::Update)>) -> Self {
        self.0.pending = pending;
        self
    }

    pub(crate) fn of_thread(error: ThreadError) -> Self {
        let problem = error.to_string();
        Self::new(RunErrorKind::Thread { problem }).by(error)
    }

    /// A task could not write to the thread.
    pub(crate) fn of_task(problem: String, source: BoxError) -> Self {
        Self::new(RunErrorKind::Thread { problem }).by(source)
    }

    /// A task failed for good; its id where the run is stored.
    pub(crate) fn of_node(error: NodeError, source: BoxError, task: Option<TaskId>) -> Self {
        let mut abort = Self::new(RunErrorKind::Node(error)).by(source);
        abort.0.task = task;
        abort
    }

    pub(crate) fn into_cause(self) -> AbortReason<S> {
        *self.0
    }

    /// Whether the run has stopped in order to go on later.
    pub(crate) fn is_pause(&self) -> bool {
        matches!(
            self.0.kind,
            RunErrorKind::Interrupted { .. } | RunErrorKind::Drained { .. }
        )
    }

    /// The failure of a node, if that is what broke the run.
    pub(crate) fn failure(&self) -> Option<(TaskId, &NodeError)> {
        match &self.0.kind {
            RunErrorKind::Node(error) => Some((self.0.task?, error)),
            _ => None,
        }
    }

    pub(crate) fn refused(nodes: Vec<String>, error: WriteError) -> Self {
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
