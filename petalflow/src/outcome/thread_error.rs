//! What can go wrong with a thread.

use std::error::Error;
use std::fmt;

use crate::checkpoint::{Address, StoreError};
use crate::codec::CodecError;
use crate::error::message_with_sources;
use crate::question::{AnswerError, Interrupt, open};

/// Why a thread could not be read, changed or run on.
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
/// # thread.run(vec!["hello".to_string()]).await?.finished()?;
/// let error = thread.at(7).await.err().expect("there is none");
/// assert!(matches!(error, ThreadError::UnknownCheckpoint { checkpoint: 7, .. }));
/// assert_eq!(error.to_string(), "thread `ann` has no checkpoint 7");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ThreadError {
    /// The store failed.
    Store(StoreError),
    /// Another run is working on the thread.
    Busy {
        /// The thread.
        thread: String,
    },
    /// A run of another process is working on the thread, so that [`OnBusy::Cancel`](super::OnBusy::Cancel) cannot reach it.
    BusyElsewhere {
        /// The thread.
        thread: String,
    },
    /// The thread has no checkpoint.
    Unknown {
        /// The thread.
        thread: String,
    },
    /// The thread has no checkpoint of this number.
    UnknownCheckpoint {
        /// The thread.
        thread: String,
        /// The number.
        checkpoint: u64,
    },
    /// The thread waits for people, and a new input would drop their questions.
    Waiting {
        /// The thread.
        thread: String,
        /// What it waits for.
        waiting: Vec<Interrupt>,
    },
    /// The program was changed in a way that does not fit what is stored: the thread stays as it is. A
    /// [`Migration`](crate::state::Migration) brings old threads along, and
    /// `petalflow_testing::assert_flow_lock!` is a test that notices such a change first.
    Changed {
        /// The thread.
        thread: String,
        /// What does not fit.
        problem: String,
        /// What differs: `-` as it was stored, `+` as it is now.
        diff: Vec<String>,
    },
    /// A value cannot be stored or read.
    Value {
        /// What it is.
        what: String,
        /// What is wrong.
        problem: CodecError,
    },
    /// An answer is not taken.
    Answer(AnswerError),
    /// What was asked for makes no sense here.
    Request(String),
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadError::Store(error) => f.write_str(&message_with_sources(error)),
            ThreadError::Busy { thread } => write!(
                f,
                "thread `{thread}` is busy with another run: wait for it, or say what to do with `.on_busy(..)`"
            ),
            ThreadError::BusyElsewhere { thread } => write!(
                f,
                "thread `{thread}` is busy with a run of another process, which cannot be cancelled from here: wait for it with `.on_busy(OnBusy::Queue)`, or cancel it there"
            ),
            ThreadError::Unknown { thread } => write!(
                f,
                "there is no thread `{thread}` in the store: begin it with `.run(input)`"
            ),
            ThreadError::UnknownCheckpoint { thread, checkpoint } => {
                write!(f, "thread `{thread}` has no checkpoint {checkpoint}")
            }
            ThreadError::Waiting { thread, waiting } => {
                let waiting = open(waiting);
                write!(
                    f,
                    "thread `{thread}` waits for {waiting}: answer with `.resume(..)`, or drop it with `.run(..).discard_pending()`"
                )
            }
            ThreadError::Changed {
                thread,
                problem,
                diff,
            } => {
                let diff = lines(diff);
                write!(
                    f,
                    "thread `{thread}` was stored by a different program: {problem}{diff}"
                )
            }
            ThreadError::Value { what, problem } => write!(f, "{what}: {problem}"),
            ThreadError::Answer(error) => error.fmt(f),
            ThreadError::Request(problem) => f.write_str(problem),
        }
    }
}

impl Error for ThreadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ThreadError::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for ThreadError {
    #[inline]
    fn from(error: StoreError) -> Self {
        ThreadError::Store(error)
    }
}

impl From<AnswerError> for ThreadError {
    #[inline]
    fn from(error: AnswerError) -> Self {
        ThreadError::Answer(error)
    }
}

impl ThreadError {
    pub(crate) fn value(what: impl Into<String>) -> impl FnOnce(CodecError) -> Self {
        let what = what.into();
        move |problem| ThreadError::Value { what, problem }
    }
}

#[inline]
fn lines(diff: &[String]) -> String {
    let mut text = String::new();
    for line in diff {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// Whether every store can hold a thread of this id.
#[inline]
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
