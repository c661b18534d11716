//! Why a thread does not go on.

use std::fmt;

/// Why a thread does not go on although it runs: a driver or a node host is away, or fails. Restate repeats what it does, or has paused
/// it.
///
/// ```no_run
/// # use petalflow::prelude::*;
/// # use petalflow_restate::RestateThread;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
/// async fn look(thread: &RestateThread<Write>) -> petalflow::Result<()> {
///     if let Some(trouble) = thread.rest().await?.trouble {
///         println!("{trouble}");
///         thread.resume(()).await?; // Now, and not after the next wait.
///     }
///     Ok(())
/// }
/// # let _ = look;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trouble {
    /// The service whose process is away or fails: that of the threads, or that of a pool.
    pub service: String,
    /// How often it was tried. 0 if Restate does not say, as of what it has paused.
    pub attempts: u64,
    /// Whether Restate tries again only after [`resume`](crate::RestateThread::resume).
    pub is_paused: bool,
    /// What went wrong the last time, in the words of Restate.
    pub cause: String,
    /// When Restate tries again, in milliseconds since 1970 (UTC). `None` while it tries, and if it has paused.
    pub next_ms: Option<u64>,
    pub(crate) invocation: String,
}

impl Trouble {
    /// The id of the invocation in Restate.
    pub fn invocation(&self) -> &str {
        &self.invocation
    }

    /// What decides which of several troubles of a thread is told.
    pub(crate) fn weight(&self) -> (bool, u64) {
        (self.is_paused, self.attempts)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trouble {
            service,
            attempts,
            is_paused,
            cause,
            ..
        } = self;
        let what = if *is_paused { "paused" } else { "retrying" };
        let times = match attempts {
            0 => String::new(),
            attempts => format!(" {attempts} times"),
        };
        write!(
            f,
            "{what}: `{service}` has failed{times}, the last time with: {cause}"
        )
    }
}
