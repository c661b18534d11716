//! Typed questions.

use std::time::Duration;

use serde_core::{Serialize, de::DeserializeOwned};

/// A question that a node can ask a person: [`Context::ask`](crate::Context::ask).
///
/// The [derive macro](derive@petalflow_macros::Ask) of the same name implements it:
///
/// ```
/// use petalflow::interrupt::Ask;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// enum Review {
///     Approve,
///     Reject(String),
/// }
///
/// #[derive(Serialize, Ask)]
/// #[ask(answer = Review, name = "review-draft", key = page, expires = 3d, default = Review::Approve)]
/// struct ReviewDraft {
///     page: u32,
///     draft: String,
/// }
///
/// let question = ReviewDraft { page: 7, draft: "petals".into() };
/// assert_eq!(ReviewDraft::NAME, "review-draft");
/// assert_eq!(question.key(), "7");
/// assert!(matches!(question.expires().unwrap().answer, Review::Approve));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a question that a node can ask",
    label = "not a question",
    note = "derive it, and name the type of the answer: `#[derive(petalflow::interrupt::Ask)] #[ask(answer = bool)]`"
)]
pub trait Ask: Serialize + Send + Sync + 'static {
    /// What a person answers.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// The question's name in storage; a question may be moved or its type renamed while threads wait for an answer.
    const NAME: &'static str;

    /// Tells apart several questions of this type that a node asks in one run. Answers are found by it, never by the order of
    /// the questions.
    fn key(&self) -> String {
        String::new()
    }

    /// After how long the question answers itself, and how. Looked at when the thread is resumed, and decided then: an answer
    /// that comes with the resume still counts, and one that comes later is refused.
    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        None
    }
}

/// How a question answers itself.
///
/// ```
/// use petalflow::interrupt::{Ask, Expiry};
/// use std::time::Duration;
///
/// #[derive(serde::Serialize, Ask)]
/// #[ask(answer = bool, expires = 1h, default = false)]
/// struct MayPay { euros: u32 }
///
/// let hour = Duration::from_secs(60 * 60);
/// assert_eq!(MayPay { euros: 7 }.expires(), Some(Expiry { after: hour, answer: false }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry<A> {
    /// After how long.
    pub after: Duration,
    /// With what.
    pub answer: A,
}
