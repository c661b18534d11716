//! Why an answer is not taken.

use std::error::Error;
use std::fmt;

use super::{Interrupt, InterruptId};
use crate::codec::CodecError;

/// Why an answer is not taken. Nothing has run, and the thread waits as before.
///
/// ```
/// use petalflow::interrupt::{Answer, AnswerError};
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::interrupt::Ask;
/// # use petalflow::prelude::*;
/// # #[derive(serde::Serialize, serde::Deserialize, Ask)]
/// # #[ask(answer = bool)]
/// # struct MayPay { euros: u32 }
/// # #[state]
/// # struct Refund { paid: bool }
/// # #[node(Refund)]
/// # async fn pay(cx: Context) -> petalflow::Result<RefundPaid> { Ok(RefundPaid(cx.ask(MayPay { euros: 7 }).await?)) }
/// # flow!(PayRefund(Refund) { pay });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = PayRefund::new().store(&InMemoryStore::new()).thread("refund");
/// # let paused = thread.run(()).await?;
/// let id = paused.interrupts()[0].id;
/// let error = Answer::from_json::<MayPay>(id, &"perhaps".into()).unwrap_err();
/// assert!(matches!(&error, AnswerError::Value(why) if why.starts_with("no answer to `MayPay`")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// The thread does not wait for it.
    Unknown {
        /// What was answered.
        id: InterruptId,
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The answer is to another question.
    OtherQuestion {
        /// What was answered.
        id: InterruptId,
        /// What it asks for.
        expected: String,
        /// What the answer is to.
        found: String,
    },
    /// Several questions could be meant.
    Ambiguous {
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The answer or the edit does not fit.
    Value(String),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::Unknown { id, waiting } => {
                let waiting = open(waiting);
                write!(
                    f,
                    "the thread does not wait for an answer to {id}; it waits for {waiting}"
                )
            }
            AnswerError::OtherQuestion {
                id,
                expected,
                found,
            } => write!(
                f,
                "{id} asks for `{expected}`, and the answer is one to `{found}`"
            ),
            AnswerError::Ambiguous { waiting } => {
                let waiting = open(waiting);
                write!(
                    f,
                    "the answer could be to any of {waiting}; say which by its id"
                )
            }
            AnswerError::Value(problem) => f.write_str(problem),
        }
    }
}

impl Error for AnswerError {}

impl AnswerError {
    #[inline]
    pub(super) fn other_question(interrupt: &Interrupt, found: &str) -> Self {
        AnswerError::OtherQuestion {
            id: interrupt.id,
            expected: interrupt.what().into(),
            found: found.into(),
        }
    }
}

impl From<CodecError> for AnswerError {
    #[inline]
    fn from(error: CodecError) -> Self {
        AnswerError::Value(error.to_string())
    }
}

/// What may be answered, with the ids to do so.
#[inline]
pub(crate) fn open(waiting: &[Interrupt]) -> String {
    if waiting.is_empty() {
        return "nothing".into();
    }
    let one = |interrupt: &Interrupt| {
        format!(
            "{} (node `{}`, {})",
            interrupt.id,
            interrupt.node,
            interrupt.what()
        )
    };
    waiting.iter().map(one).collect::<Vec<_>>().join(", ")
}
