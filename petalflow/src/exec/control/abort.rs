//! The reason why a run cannot continue.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::watch::Stop;
use crate::checkpoint::DecisionRecord;
use crate::clock::from_ms;
use crate::erased::EffectsBox;
use crate::error::{BoxError, NodeError, Panicked, catch};
use crate::exec::persistence::Waits;
use crate::ids::TaskId;
use crate::outcome::{RunErrorKind, ThreadError, TimeoutScope};
use crate::state::WriteError;

/// Why a run cannot continue. Boxed: every step of a run returns one of these or nothing, and nearly always nothing.
pub(crate) struct Abort(Box<AbortReason>);

/// The kind of error that ends a run, with the data that goes into the [`RunError`](crate::RunError).
pub(in crate::exec) struct AbortReason {
    pub(in crate::exec) kind: RunErrorKind,
    pub(in crate::exec) source: Option<BoxError>,
    /// The writes of tasks that finished in the superstep that was not committed, by node.
    pub(in crate::exec) pending: Vec<(String, EffectsBox)>,
    /// The failure of a node at the moment at which the run was cancelled.
    pub(in crate::exec) failed: Option<NodeError>,
    /// The task that failed.
    task: Option<TaskId>,
    /// When the run continues although nobody answers, in milliseconds since 1970 (UTC).
    pub(in crate::exec) wakes_ms: Option<u64>,
}

/// Awaits the supersteps of a run. A panic in them, outside of a node, is a reason to stop.
///
/// The future is pinned by the caller: moved in here, its memory would be part of the run twice.
pub(in crate::exec) async fn catch_abort(
    mut supersteps: Pin<&mut impl Future<Output = Result<(), Abort>>>,
) -> Result<(), Abort> {
    poll_fn(|cx| {
        let polled = catch(|| supersteps.as_mut().poll(cx));
        polled.unwrap_or_else(|panicked| Poll::Ready(Err(Abort::panicked(panicked))))
    })
    .await
}

impl Abort {
    pub(in crate::exec) fn new(kind: RunErrorKind) -> Self {
        Abort(Box::new(AbortReason {
            kind,
            source: None,
            pending: Vec::new(),
            failed: None,
            task: None,
            wakes_ms: None,
        }))
    }

    fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds the writes of tasks that finished.
    pub(in crate::exec) fn with_pending(mut self, pending: Vec<(String, EffectsBox)>) -> Self {
        self.0.pending = pending;
        self
    }

    /// The run was stopped.
    pub(in crate::exec) fn stopped(stop: Stop) -> Self {
        Self::new(match stop {
            Stop::Cancelled => RunErrorKind::Cancelled,
            Stop::RunTimeout => RunErrorKind::Timeout {
                scope: TimeoutScope::Run,
            },
            Stop::SuperstepTimeout => RunErrorKind::Timeout {
                scope: TimeoutScope::Superstep,
            },
        })
    }

    /// Code of the program panicked outside of a node.
    pub(in crate::exec) fn panicked(panicked: Panicked) -> Self {
        let message = panicked.message().into();
        Self::new(RunErrorKind::Panic { message }).with_source(panicked)
    }

    /// The run waits: for a person, if any of its tasks does, or else for a time.
    pub(in crate::exec) fn waiting(waits: Waits) -> Self {
        let Waits {
            interrupts,
            wakes_ms,
        } = waits;
        let mut abort = Self::new(match wakes_ms {
            Some(wakes_ms) if interrupts.is_empty() => RunErrorKind::Sleeping {
                until: from_ms(wakes_ms),
            },
            _ => RunErrorKind::Interrupted { interrupts },
        });
        abort.0.wakes_ms = wakes_ms;
        abort
    }

    /// A person has rejected what the run waited for.
    pub(in crate::exec) fn rejected(decision: DecisionRecord) -> Self {
        Self::new(RunErrorKind::rejected(decision))
    }

    /// The thread cannot be read or written.
    pub(in crate::exec) fn of_thread(error: ThreadError) -> Self {
        let problem = error.to_string();
        Self::of_task(problem, error.into())
    }

    /// A task could not write to the thread.
    pub(in crate::exec) fn of_task(problem: String, source: BoxError) -> Self {
        Self::new(RunErrorKind::Thread { problem }).with_source(source)
    }

    /// A task failed for good. `task` is its id if the run is stored.
    pub(in crate::exec) fn of_node(
        error: NodeError,
        source: BoxError,
        task: Option<TaskId>,
    ) -> Self {
        let mut abort = Self::new(RunErrorKind::Node(error)).with_source(source);
        abort.0.task = task;
        abort
    }

    /// A task failed for good, and the run was cancelled before it noticed that. The failure is the source.
    pub(in crate::exec) fn cancelled_with(
        error: NodeError,
        source: BoxError,
        task: Option<TaskId>,
    ) -> Self {
        let mut abort = Self::stopped(Stop::Cancelled).with_source(source);
        (abort.0.failed, abort.0.task) = (Some(error), task);
        abort
    }

    /// The writes of these nodes cannot be applied.
    pub(in crate::exec) fn refused(nodes: Vec<String>, error: WriteError) -> Self {
        let problem = error.to_string();
        Self::new(RunErrorKind::Write { nodes, problem }).with_source(error)
    }

    /// A message to the thread cannot be applied.
    pub(in crate::exec) fn refused_message(number: u64, error: WriteError) -> Self {
        let problem = error.to_string();
        Self::new(RunErrorKind::Message { number, problem }).with_source(error)
    }

    pub(in crate::exec) fn into_reason(self) -> AbortReason {
        *self.0
    }

    /// Whether the run stopped in order to be resumed later.
    pub(in crate::exec) fn is_pause(&self) -> bool {
        matches!(
            self.0.kind,
            RunErrorKind::Interrupted { .. }
                | RunErrorKind::Sleeping { .. }
                | RunErrorKind::Drained { .. }
        )
    }

    /// Whether a person has ended the run, which is a change of the thread.
    pub(in crate::exec) fn is_rejection(&self) -> bool {
        matches!(self.0.kind, RunErrorKind::Rejected { .. })
    }

    /// Whether code of the program panicked, which may have left the state inconsistent.
    pub(in crate::exec) fn is_panic(&self) -> bool {
        matches!(self.0.kind, RunErrorKind::Panic { .. })
    }

    /// The task that failed and its failure, if that is why the run cannot continue.
    pub(in crate::exec) fn failed_task(&self) -> Option<(TaskId, &NodeError)> {
        let error = match &self.0.kind {
            RunErrorKind::Node(error) => error,
            _ => self.0.failed.as_ref()?,
        };
        Some((self.0.task?, error))
    }
}
