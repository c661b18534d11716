//! Typed questions.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

/// A question that a node can ask a person: [`Context::ask`](crate::Context::ask).
///
/// ```
/// use petalflow::interrupt::Ask;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct ReviewDraft {
///     draft: String,
/// }
///
/// impl Ask for ReviewDraft {
///     type Answer = bool;
///     const NAME: &'static str = "review-draft";
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a question that a node can ask",
    label = "not a question",
    note = "implement `petalflow::interrupt::Ask` for it, which names the type of the answer"
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

    /// After how long the question answers itself, and how. Looked at when the thread is resumed.
    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        None
    }
}

/// How a question answers itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry<A> {
    /// After how long.
    pub after: Duration,
    /// With what.
    pub answer: A,
}
