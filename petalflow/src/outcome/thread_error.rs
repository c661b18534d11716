//! The errors of threads.

use std::time::SystemTime;

use crate::checkpoint::{Address, StoreError};
use crate::clock::{to_ms, utc};
use crate::error::{Panicked, catch_panic};
use crate::future::BoxFuture;
use crate::question::{AnswerError, Interrupt, open};
use petalflow_store::codec::CodecError;

/// Why a thread could not be read, changed or run.
///
/// ```
/// use petalflow::thread::ThreadError;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let error = thread.snapshot_at(7).await.err().expect("there is none");
/// assert!(matches!(error, ThreadError::UnknownCheckpoint { checkpoint: 7, .. }));
/// assert_eq!(error.to_string(), "thread `ann` has no checkpoint 7");
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another run is working on the thread.
    #[error("thread `{thread}` is busy with another run: wait for it, or set `.on_busy(..)`")]
    Busy {
        /// The thread.
        thread: String,
    },
    /// A person [holds](crate::checkpoint::ThreadStatus::Held) the thread, and the run was to leave such threads alone:
    /// [`Thread::recover`](crate::thread::Thread::recover).
    #[error(
        "a person holds thread `{thread}`: it was cancelled, edited, forked or copied; `.resume(..)` continues it"
    )]
    Held {
        /// The thread.
        thread: String,
    },
    /// There is a thread with the id that a copy or a fork was to have.
    #[error("there is a thread `{thread}` already: delete it first, or use another id")]
    Exists {
        /// The thread.
        thread: String,
    },
    /// The thread has no checkpoint.
    #[error("there is no thread `{thread}` in the store: begin it with `.run(input)`")]
    Unknown {
        /// The thread.
        thread: String,
    },
    /// The thread has no checkpoint of this number.
    #[error("thread `{thread}` has no checkpoint {checkpoint}")]
    UnknownCheckpoint {
        /// The thread.
        thread: String,
        /// The number.
        checkpoint: u64,
    },
    /// The thread waits for a person, and a new input would discard the questions.
    #[error(
        "thread `{thread}` waits for {}: answer with `.resume(..)`, or discard it with `.run(..).discard_pending()`",
        open(waiting)
    )]
    Waiting {
        /// The thread.
        thread: String,
        /// What it waits for.
        waiting: Vec<Interrupt>,
    },
    /// The thread [sleeps](crate::Context::sleep), and a new input would discard what it is about to do.
    #[error(
        "thread `{thread}` sleeps until {}: continue it then with `.resume(())` or `Threads::wake`, or discard it with `.run(..).discard_pending()`",
        utc(to_ms(*until))
    )]
    Sleeping {
        /// The thread.
        thread: String,
        /// When the first of its sleeps ends, by the clock of the store.
        until: SystemTime,
    },
    /// The program has changed so that the stored thread does not fit it. The thread does not change. A
    /// [`Migration`](crate::state::Migration) converts old threads, and the test `petalflow_testing::assert_flow_lock!` reports
    /// such a change before a deployment.
    #[error(
        "thread `{thread}` was stored by a different program: {problem}{}",
        lines(diff)
    )]
    Changed {
        /// The thread.
        thread: String,
        /// What does not fit.
        problem: String,
        /// The differences: `-` for the stored program, `+` for this one.
        diff: Vec<String>,
    },
    /// A value cannot be stored or read.
    #[error("{what}: {problem}")]
    Value {
        /// The value.
        what: String,
        /// The problem.
        problem: CodecError,
    },
    /// An answer is refused.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// Code of the program panicked: a reducer, for example, or an implementation of `Deserialize`.
    #[error(transparent)]
    Panic(#[from] Panicked),
    /// The request is not possible.
    #[error("{0}")]
    Request(String),
}

crate::error::debug_is_message!(ThreadError);

impl ThreadError {
    /// Awaits an operation on a thread that runs code of the program. It is boxed, because a future that awaits another one has
    /// memory for it twice, and these are large.
    pub(crate) async fn catch_panic<T>(
        operation: BoxFuture<'_, Result<T, ThreadError>>,
    ) -> Result<T, ThreadError> {
        catch_panic(operation).await?
    }

    pub(crate) fn value(what: impl Into<String>) -> impl FnOnce(CodecError) -> Self {
        let what = what.into();
        move |problem| ThreadError::Value { what, problem }
    }
}

fn lines(diff: &[String]) -> String {
    let mut lines = String::new();
    for line in diff {
        lines.push_str("\n  ");
        lines.push_str(line);
    }
    lines
}

/// Checks that every store can store a thread with this id.
pub(crate) fn check_id(id: &str) -> Result<(), ThreadError> {
    if id.is_empty() || id.len() > Address::LONGEST || id.contains('\0') {
        return Err(ThreadError::Request(format!(
            "{:?} cannot be the id of a thread: it has 1 to {} bytes and no NUL",
            id.chars().take(40).collect::<String>(),
            Address::LONGEST
        )));
    }
    Ok(())
}
