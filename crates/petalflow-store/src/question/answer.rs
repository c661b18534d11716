//! Answers to questions.

use super::{AnswerError, Ask, Interrupt, InterruptId};
use crate::codec::{decode, encode};
use serde_core::{Deserialize as _, Deserializer};
use std::any::type_name;

/// An answer to one question, of the type that the question asks for.
///
/// Created by [`Interrupt::answer`](super::Interrupt::answer), or from an id that was stored elsewhere.
///
/// ```
/// use petalflow::interrupt::Answer;
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
/// let thread = PayRefund::new().store(&InMemoryStore::new()).thread("refund");
/// let paused = thread.run(()).await?;
/// let id = paused.interrupts()[0].id;
/// let refund = thread.resume(Answer::new::<MayPay>(id, &true)?).await?.into_finished()?;
/// assert!(refund.paid);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    #[doc(hidden)]
    pub id: InterruptId,
    /// The name of the question.
    #[doc(hidden)]
    pub name: &'static str,
    /// The type of the answer.
    #[doc(hidden)]
    pub ty: &'static str,
    #[doc(hidden)]
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The answer to the question with this id, which must have the type `A`.
    ///
    /// # Errors
    ///
    /// If the answer cannot be stored and read back.
    pub fn new<A: Ask>(id: InterruptId, answer: &A::Answer) -> Result<Self, AnswerError> {
        let mut bytes = Vec::new();
        encode(answer, &mut bytes)?;
        let ty = type_name::<A::Answer>();
        // Otherwise every resume of the thread would fail.
        decode::<A::Answer>(&bytes).map_err(|error| {
            AnswerError::Value(format!(
                "the answer to `{}` is a `{ty}` that cannot be read back: {error}",
                A::NAME
            ))
        })?;
        Ok(Answer {
            id,
            name: A::NAME,
            ty,
            bytes,
        })
    }

    /// An answer that was sent, for example in JSON from a web page.
    ///
    /// # Errors
    ///
    /// If it does not have the type that the question asks for.
    ///
    /// ```
    /// use petalflow::interrupt::{Answer, Ask, AnswerError, InterruptId};
    ///
    /// #[derive(serde::Serialize, Ask)]
    /// #[ask(answer = bool)]
    /// struct MayPay {
    ///     euros: u32,
    /// }
    ///
    /// let id: InterruptId = "0123456789abcdef0123456789abcdef".parse()?;
    /// let sent: serde_json::Value = serde_json::from_str("true")?;
    /// assert_eq!(Answer::deserialize::<MayPay>(id, &sent)?, Answer::new::<MayPay>(id, &true)?);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn deserialize<'de, A: Ask>(
        id: InterruptId,
        answer: impl Deserializer<'de>,
    ) -> Result<Self, AnswerError> {
        let answer = A::Answer::deserialize(answer)
            .map_err(|error| AnswerError::Value(format!("no answer to `{}`: {error}", A::NAME)))?;
        Answer::new::<A>(id, &answer)
    }
}

impl Interrupt {
    /// The answer to a question of the type `A`.
    ///
    /// # Errors
    ///
    /// If this is not a question of the type `A`, or the answer cannot be stored.
    pub fn answer<A: Ask>(&self, answer: A::Answer) -> Result<Answer, AnswerError> {
        if !self.asks::<A>() {
            return Err(AnswerError::other_question(self, A::NAME));
        }
        Answer::new::<A>(self.id, &answer)
    }
}
