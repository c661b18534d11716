//! Cancellation of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::notify::Notify;

const RUNNING: u8 = 0;
const DRAINING: u8 = 1;
const CANCELLED: u8 = 2;

/// Stops runs: at once with [`cancel`](Self::cancel), at the next barrier with [`drain`](Self::drain). Clones are
/// handles to the same token. A token can stop many runs, and sub-flows stop with their parent.
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
    inner: Arc<Inner>,
    /// For a sub-flow: cancelled with its parent, but not drained, because it completes within one superstep of the
    /// parent.
    nested: bool,
}

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    changed: Notify,
}

impl CancelToken {
    /// A token that has stopped nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the runs at once: running nodes are dropped, and nothing of the superstep is applied.
    pub fn cancel(&self) {
        self.inner.state.store(CANCELLED, Ordering::Release);
        self.inner.changed.notify_waiters();
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
        // A cancelled run stays cancelled.
        let _ = self.inner.state.compare_exchange(
            RUNNING,
            DRAINING,
            Ordering::Release,
            Ordering::Relaxed,
        );
    }

    /// Whether [`cancel`](Self::cancel) has been called.
    pub fn is_cancelled(&self) -> bool {
        self.inner.state.load(Ordering::Relaxed) == CANCELLED
    }

    /// Whether [`drain`](Self::drain) has been called, or [`cancel`](Self::cancel).
    pub fn is_draining(&self) -> bool {
        let state = self.inner.state.load(Ordering::Relaxed);
        state == CANCELLED || state == DRAINING && !self.nested
    }

    /// The token for a sub-flow.
    pub(crate) fn nested(&self) -> Self {
        CancelToken {
            inner: Arc::clone(&self.inner),
            nested: true,
        }
    }

    /// Completes when the token is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the token.
    pub async fn cancelled(&self) {
        loop {
            // Registered before the check; otherwise a cancellation in between would be missed.
            let changed = Notify::notified(&self.inner.changed);
            if self.inner.state.load(Ordering::Acquire) == CANCELLED {
                return;
            }
            changed.await;
        }
    }
}
