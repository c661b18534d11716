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
    /// How often it was tried.
    pub attempts: u64,
    /// Whether Restate tries again only after [`resume`](crate::RestateThread::resume).
    pub is_paused: bool,
    /// What went wrong the last time, in the words of Restate.
    pub cause: String,
    pub(crate) invocation: String,
}

impl Trouble {
    /// The id of the invocation in Restate.
    pub fn invocation(&self) -> &str {
        &self.invocation
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
        write!(
            f,
            "{what}: `{service}` has failed {attempts} times, the last time with: {cause}"
        )
    }
}
