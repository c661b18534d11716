//! Why a run cannot go on.

use super::guard::Stop;
use crate::thread::ThreadError;
use crate::{BoxError, NodeError, RunErrorKind, State, TaskId, WriteError};

/// Why a run cannot go on.
pub(crate) struct Broken<S: State> {
    pub(super) kind: RunErrorKind,
    pub(super) source: Option<BoxError>,
    /// What siblings had finished.
    pub(super) pending: Vec<(String, S::Update)>,
    /// The task that failed.
    pub(super) task: Option<TaskId>,
}

impl<S: State> Broken<S> {
    pub(super) fn new(kind: RunErrorKind) -> Self {
        Broken {
            kind,
            source: None,
            pending: Vec::new(),
            task: None,
        }
    }

    pub(super) fn of_thread(error: ThreadError) -> Self {
        let problem = error.to_string();
        Broken {
            source: Some(error.into()),
            ..Broken::new(RunErrorKind::Thread { problem })
        }
    }

    /// A task could not write to the thread.
    pub(super) fn of_task(problem: String, source: BoxError) -> Self {
        Broken {
            source: Some(source),
            ..Broken::new(RunErrorKind::Thread { problem })
        }
    }

    /// Whether the run has stopped in order to go on later.
    pub(super) fn is_pause(&self) -> bool {
        matches!(
            self.kind,
            RunErrorKind::Interrupted { .. } | RunErrorKind::Drained { .. }
        )
    }

    /// The failure of a node, if that is what broke the run.
    pub(super) fn failure(&self) -> Option<(TaskId, &NodeError)> {
        match &self.kind {
            RunErrorKind::Node(error) => Some((self.task?, error)),
            _ => None,
        }
    }

    pub(super) fn refused(nodes: Vec<String>, error: WriteError) -> Self {
        let kind = RunErrorKind::Write {
            nodes,
            problem: error.to_string(),
        };
        Broken {
            source: Some(error.into()),
            ..Broken::new(kind)
        }
    }
}

impl From<Stop> for RunErrorKind {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => RunErrorKind::Cancelled,
            Stop::Timeout(of) => RunErrorKind::Timeout { of },
        }
    }
}
