//! The trait of questions.

use std::time::Duration;

use crate::codec::{CodecError, RawValue};
use serde_core::{Serialize, de::DeserializeOwned};

/// A question that a node can ask a person: `Context::ask`.
///
/// The derive macro of the same name implements it:
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
pub trait Ask: StoredQuestion + Send + Sync + 'static {
    /// The type of the answer.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// The stored name of the question. With it, the type can be moved or renamed while threads wait for an answer.
    const NAME: &'static str;

    /// Distinguishes several questions of this type that a node asks in one run. An answer is found by its key, never by the
    /// order of the questions.
    fn key(&self) -> String {
        String::new()
    }

    /// When the question expires, and the answer that it gets then. While other nodes of the superstep run in a runtime of tokio, it
    /// gets the answer at this time. Later this is checked when the thread is resumed: an answer in the same resume is still
    /// accepted, and a later one is refused. The time is that of the clock of the store.
    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        None
    }
}

/// A question that can be stored: what serde can serialize. Not `Serialize` itself, so that a question without it is told in
/// words.
///
/// ```
/// fn can_be_asked(_: &impl petalflow::checks::StoredQuestion) {}
///
/// can_be_asked(&"Publish?");
/// ```
#[diagnostic::on_unimplemented(
    message = "question `{Self}` cannot be stored, because it is not `Serialize`",
    label = "not `Serialize`",
    note = "a question is stored while it waits for its answer: derive `serde::Serialize` for it"
)]
pub trait StoredQuestion {
    /// The question in its stored form.
    #[doc(hidden)]
    fn stored(&self) -> Result<RawValue, CodecError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> StoredQuestion for T {
    fn stored(&self) -> Result<RawValue, CodecError> {
        RawValue::new(self)
    }
}

/// When a question expires, and the answer that it gets then.
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
    /// The time until it expires.
    pub after: Duration,
    /// The answer of an expired question.
    pub answer: A,
}
