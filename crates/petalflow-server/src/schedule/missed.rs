//! What happens to the planned times that nobody was there for.

/// What a [`Schedule`](crate::Schedule) does about planned times at which no server ran. A time is missed after a minute.
///
/// ```
/// use petalflow_server::{Missed, Schedule};
///
/// let schedule = Schedule::new("nightly", "report", "0 3 * * *").missed(Missed::Latest);
/// # let _ = schedule;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missed {
    /// Missed times are skipped.
    #[default]
    Skip,
    /// The latest of the missed times begins a thread.
    Latest,
    /// Each missed time begins a thread, oldest first.
    All,
}

impl Missed {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Missed::Skip => "skip",
            Missed::Latest => "latest",
            Missed::All => "all",
        }
    }
}
