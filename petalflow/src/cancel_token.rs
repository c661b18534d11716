//! Cancellation of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Stops runs: at once with [`cancel`](Self::cancel), at the next barrier with [`drain`](Self::drain). Clones are
/// handles to the same token. A token can stop many runs, and sub-flows stop with their parent.
///
/// A program that has a `CancellationToken` of `tokio-util` passes that one instead, if nothing is to be drained:
/// `.cancel_with(&shutdown)`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::run::{CancelToken, RunErrorKind};
///
/// #[state]
/// struct Nothing {}
///
/// #[node(Nothing)]
/// async fn wait_for_ever() {
///     std::future::pending::<()>().await;
/// }
///
/// flow!(Wait(Nothing) { wait_for_ever });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let token = CancelToken::new();
/// let run = tokio::spawn(Wait::new().cancel_with(&token).run(()));
/// tokio::task::yield_now().await;
/// token.cancel();
/// let error = run.await.unwrap().err().unwrap();
/// assert_eq!(*error.kind(), RunErrorKind::Cancelled);
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: CancellationToken,
    /// Cancelled with `drain`, and after `cancelled` with `cancel`. So a run looks at this one only between two supersteps.
    draining: CancellationToken,
    /// Whether the first call was `cancel`.
    holds: Arc<Holds>,
}

/// Whether a token, or one that it is a child of, was cancelled by a person.
#[derive(Debug, Default)]
struct Holds {
    held: AtomicBool,
    parent: Option<Arc<Holds>>,
}

impl Holds {
    fn get(&self) -> bool {
        self.held.load(Ordering::Acquire) || self.parent.as_ref().is_some_and(|parent| parent.get())
    }
}

impl CancelToken {
    /// A token that has stopped nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the runs at once: running nodes are dropped, and nothing of the superstep is applied.
    ///
    /// The threads of stored runs are [held](crate::checkpoint::ThreadStatus::Held): only a resume by their ids continues them.
    /// A program that stops calls [`drain`](Self::drain), and this method after a grace period: then the threads are
    /// [stopped](crate::checkpoint::ThreadStatus::Stopped), and the next process continues them.
    pub fn cancel(&self) {
        if !self.is_draining() {
            self.holds.held.store(true, Ordering::Release);
        }
        self.cancelled.cancel();
        self.draining.cancel();
    }

    /// Stops the runs after the current superstep is committed. A run that ends with this superstep ends as usual.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::run::{CancelToken, RunErrorKind};
    ///
    /// #[node(Log)]
    /// async fn first(token: Managed<CancelToken>) -> LogLines {
    ///     token.drain(); // From elsewhere, in real life.
    ///     LogLines(vec!["first".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn second() -> LogLines {
    ///     LogLines(vec!["second".into()])
    /// }
    ///
    /// flow!(Work(Log) { first -> second });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let token = CancelToken::new();
    /// let error = Work::new().cancel_with(&token).manage(token.clone()).run(()).await.err().unwrap();
    /// assert_eq!(*error.kind(), RunErrorKind::Drained { next: vec!["second".into()] });
    /// assert_eq!(error.state::<Log>().unwrap().lines, ["first"]);
    /// # }
    /// ```
    pub fn drain(&self) {
        self.draining.cancel();
    }

    /// A token that this one stops too. Stopping it does not stop this one: for a server that can cancel one run, and drain all.
    ///
    /// ```
    /// use petalflow::run::CancelToken;
    ///
    /// let all = CancelToken::new();
    /// let (one, another) = (all.child(), all.child());
    /// one.cancel();
    /// assert!(one.is_cancelled() && !all.is_cancelled());
    /// all.drain();
    /// assert!(another.is_draining());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        CancelToken {
            cancelled: self.cancelled.child_token(),
            draining: self.draining.child_token(),
            holds: Arc::new(Holds {
                held: AtomicBool::new(false),
                parent: Some(Arc::clone(&self.holds)),
            }),
        }
    }

    /// Whether [`cancel`](Self::cancel) has been called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Whether [`drain`](Self::drain) has been called, or [`cancel`](Self::cancel).
    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Completes when the token is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the token.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }
}

/// What stops a run: a [`CancelToken`], or a `CancellationToken` of `tokio-util`, which cannot drain. The latter signals that the
/// program stops: the thread of a run that it cancels is [stopped](crate::checkpoint::ThreadStatus::Stopped) and not held.
///
/// ```
/// use petalflow::run::{CancelToken, RunToken};
/// use tokio_util::sync::CancellationToken;
///
/// let shutdown = CancellationToken::new();
/// let token = RunToken::from(&shutdown);
/// shutdown.cancel();
/// assert!(token.is_cancelled());
///
/// let token = CancelToken::new();
/// token.drain();
/// assert!(!RunToken::from(&token).is_cancelled());
/// ```
#[derive(Clone, Debug)]
pub struct RunToken {
    cancelled: CancellationToken,
    /// Cancelled when the run is to stop at its next barrier, and always after `cancelled`. `None` if the run cannot be drained.
    draining: Option<CancellationToken>,
    /// Whether a person holds the thread of a run that is cancelled. `None`: the token only signals that the program stops.
    holds: Option<Arc<Holds>>,
}

impl From<&CancelToken> for RunToken {
    fn from(token: &CancelToken) -> Self {
        RunToken {
            cancelled: token.cancelled.clone(),
            draining: Some(token.draining.clone()),
            holds: Some(Arc::clone(&token.holds)),
        }
    }
}

impl From<CancelToken> for RunToken {
    fn from(token: CancelToken) -> Self {
        Self::from(&token)
    }
}

impl From<&CancellationToken> for RunToken {
    fn from(token: &CancellationToken) -> Self {
        Self::from(token.clone())
    }
}

impl From<CancellationToken> for RunToken {
    fn from(cancelled: CancellationToken) -> Self {
        RunToken {
            cancelled,
            draining: None,
            holds: None,
        }
    }
}

impl RunToken {
    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Completes when the token is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the token.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Whether a person has cancelled the run, so that its thread is held.
    pub(crate) fn holds(&self) -> bool {
        let holds = self.holds.as_ref();
        holds.is_some_and(|holds| holds.get())
    }

    /// [`cancelled`](Self::cancelled), as a future that owns its token.
    pub(crate) fn cancelled_owned(&self) -> WaitForCancellationFutureOwned {
        self.cancelled.clone().cancelled_owned()
    }

    /// Whether the run has to stop at its next barrier, because it is drained or cancelled. Each call takes one lock.
    pub(crate) fn stops_at_barrier(&self) -> bool {
        self.draining
            .as_ref()
            .unwrap_or(&self.cancelled)
            .is_cancelled()
    }

    /// A token for one run, which is stopped with this one or alone. Each run has its own, so that runs on several threads do not
    /// take the same lock between their supersteps.
    pub(crate) fn for_run(&self) -> Self {
        RunToken {
            cancelled: self.cancelled.child_token(),
            draining: self.draining.as_ref().map(CancellationToken::child_token),
            holds: self.holds.clone(),
        }
    }

    /// A token for a run on a thread, which can be cancelled, drained and held alone, whatever this token can do.
    pub(crate) fn for_stored_run(&self) -> Self {
        let cancelled = self.cancelled.child_token();
        let draining = match &self.draining {
            Some(draining) => draining.child_token(),
            None => cancelled.child_token(),
        };
        RunToken {
            cancelled,
            draining: Some(draining),
            holds: Some(Arc::new(Holds {
                held: AtomicBool::new(false),
                parent: self.holds.clone(),
            })),
        }
    }

    /// A token for a sub-flow: cancelled with its parent, but not drained, because it completes within one superstep of the
    /// parent.
    pub(crate) fn for_subflow(&self) -> Self {
        Self::from(self.cancelled.child_token())
    }

    /// Lets the thread be held when its run stops. Only a token for a stored run can do this.
    pub(crate) fn hold(&self) {
        if let Some(holds) = &self.holds {
            holds.held.store(true, Ordering::Release);
        }
    }

    /// Whether [`hold`](Self::hold) was called, so that the thread is held however its run stops.
    pub(crate) fn is_told_to_hold(&self) -> bool {
        let holds = self.holds.as_ref();
        holds.is_some_and(|holds| holds.held.load(Ordering::Acquire))
    }

    /// Stops the run at its next barrier. Only a token for a stored run can always do this.
    pub(crate) fn drain(&self) {
        if let Some(draining) = &self.draining {
            draining.cancel();
        }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.cancel();
        if let Some(draining) = &self.draining {
            draining.cancel();
        }
    }
}
