//! The reasons why an answer is refused.

use super::{Interrupt, InterruptId, comma_separated};
use crate::codec::CodecError;

/// Why an answer is refused. Nothing has run, and the thread still waits.
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
/// let error = Answer::deserialize::<MayPay>(id, &serde_json::json!("perhaps")).unwrap_err();
/// assert!(matches!(&error, AnswerError::Value(why) if why.starts_with("no answer to `MayPay`")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The thread does not wait for this answer.
    #[error(
        "the thread does not wait for an answer to {id}; it waits for {}",
        open(waiting)
    )]
    Unknown {
        /// The id in the answer.
        id: InterruptId,
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The thread waits for no question of this type.
    #[error(
        "the thread does not wait for an answer to `{question}`; it waits for {}",
        open(waiting)
    )]
    NotAsked {
        /// The name of the question.
        question: String,
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// Another caller has answered the question or decided the approval, or it has expired.
    #[error(
        "interrupt {id} has an answer already (`{name}`): another caller has answered, or the question has expired; this answer is not recorded"
    )]
    Answered {
        /// The id of the question or the approval.
        id: InterruptId,
        /// The name of the question, or the decision.
        name: String,
    },
    /// The answer is to another question.
    #[error("{id} asks for `{expected}`, and the answer is for `{found}`")]
    OtherQuestion {
        /// The id in the answer.
        id: InterruptId,
        /// The question with this id.
        expected: String,
        /// The question that the answer is for.
        found: String,
    },
    /// The answer has another type than the question asks for.
    #[error(
        "{id} asks `{question}` for a `{expected}`, and the answer is a `{found}`; if the type has changed since the question was asked, resume the thread with `()`, so that this program asks again, and answer then"
    )]
    OtherType {
        /// The id in the answer.
        id: InterruptId,
        /// The name of the question.
        question: String,
        /// The type of the answer in the program that asked.
        expected: String,
        /// The type of this answer.
        found: String,
    },
    /// The answer fits several questions.
    #[error(
        "the answer fits several questions: {}; answer one by its id",
        open(waiting)
    )]
    Ambiguous {
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The answer or the edit has a value that does not fit.
    #[error("{0}")]
    Value(String),
}

crate::error::debug_is_message!(AnswerError);

impl AnswerError {
    pub(super) fn other_question(interrupt: &Interrupt, found: &str) -> Self {
        AnswerError::OtherQuestion {
            id: interrupt.id,
            expected: interrupt.what().into(),
            found: found.into(),
        }
    }
}

impl From<CodecError> for AnswerError {
    fn from(error: CodecError) -> Self {
        AnswerError::Value(error.to_string())
    }
}

/// The interrupts with their ids, as one text.
#[doc(hidden)]
pub fn open(waiting: &[Interrupt]) -> String {
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
    comma_separated(waiting.iter().map(one))
}

/// Parses the text of an id, for example from a web page.
impl std::str::FromStr for InterruptId {
    type Err = AnswerError;

    fn from_str(text: &str) -> Result<Self, AnswerError> {
        InterruptId::parse(text).ok_or_else(|| {
            AnswerError::Value(format!(
                "`{text}` is not the id of an interrupt: it has 32 hexadecimal digits"
            ))
        })
    }
}
