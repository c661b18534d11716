//! Notices of a server for the log of its program.

use std::error::Error;
use std::fmt;

/// Something that happened in a server, for a log. `Display` prints a line.
///
/// ```
/// use petalflow_server::Notice;
///
/// let notice = Notice::Accepted { thread: "orders:incoming:1" };
/// assert_eq!(notice.to_string(), "orders:incoming:1: accepted");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// A request has started a thread. Its input is stored.
    Accepted {
        /// The thread.
        thread: &'a str,
    },
    /// The run of an earlier process continues.
    Recovered {
        /// The thread.
        thread: &'a str,
    },
    /// A run has ended. The thread may wait for a person, or for the next process.
    Ended {
        /// The thread.
        thread: &'a str,
    },
    /// A run has failed.
    Failed {
        /// The thread.
        thread: &'a str,
        /// The error: a [`RunError`](petalflow::RunError), unless an engine in other processes has run the thread.
        error: &'a (dyn Error + Send + Sync + 'static),
    },
    /// Threads of an earlier process could not be continued. The server tries again later.
    NotRecovered {
        /// The thread. Empty if the threads could not be listed.
        thread: &'a str,
        /// The problem.
        problem: &'a str,
    },
    /// Finished threads that are not kept could not be deleted. The server tries again.
    NotDeleted {
        /// The problem.
        problem: &'a str,
    },
    /// A notification could not be stored or delivered. The server tries again.
    NotNotified {
        /// The thread. Empty if the outbox could not be read.
        thread: &'a str,
        /// The problem.
        problem: &'a str,
    },
    /// A thread of a schedule could not be begun. The server tries again.
    NotScheduled {
        /// The name of the schedule.
        schedule: &'a str,
        /// The problem.
        problem: &'a str,
    },
    /// The record of a schedule had a time that has not come yet: a process with a wrong clock has stored it. The schedule goes on with
    /// the next planned time. Planned times of the last minute may be missed, and threads that were begun too early remain.
    ClockAhead {
        /// The name of the schedule.
        schedule: &'a str,
        /// The time that was stored.
        stored: &'a str,
        /// The time of the store.
        now: &'a str,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Accepted { thread } => write!(f, "{thread}: accepted"),
            Notice::Recovered { thread } => write!(f, "{thread}: continues"),
            Notice::Ended { thread } => write!(f, "{thread}: ended"),
            Notice::Failed { thread, error } => write!(f, "{thread}: failed: {error}"),
            Notice::NotRecovered {
                thread: "",
                problem,
            } => write!(f, "unfinished threads cannot be listed: {problem}"),
            Notice::NotDeleted { problem } => {
                write!(f, "threads that are not kept cannot be deleted: {problem}")
            }
            Notice::NotNotified {
                thread: "",
                problem,
            } => write!(f, "notifications cannot be delivered: {problem}"),
            Notice::NotNotified { thread, problem } => {
                write!(f, "{thread}: a notification was not delivered: {problem}")
            }
            Notice::NotScheduled { schedule, problem } => {
                write!(
                    f,
                    "schedule {schedule}: no thread could be begun: {problem}"
                )
            }
            Notice::ClockAhead {
                schedule,
                stored,
                now,
            } => write!(
                f,
                "schedule {schedule}: a process with a wrong clock has stored {stored}, and it is {now}: it goes on now; check the clocks"
            ),
            Notice::NotRecovered { thread, problem } => {
                write!(f, "{thread}: cannot be continued: {problem}")
            }
        }
    }
}
