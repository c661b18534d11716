//! The result of a guard of an `interrupt`.

use crate::error::BoxError;

/// The result type of a guard: whether the run stops, or a `Result` of it with any error that converts to a boxed one.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(topic.into())
/// }
///
/// flow! {
///     WriteEssay(Essay) {
///         write;
///         interrupt before write if |topic: &str| topic.contains("secret");
///         interrupt after write if |draft: &str| -> petalflow::Result<bool> { Ok(draft.trim().parse::<u32>()? > 400) };
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the guard of an `interrupt` cannot return `{Self}`",
    label = "not a `bool`",
    note = "it says whether the run stops: with a `bool`, or with a `Result<bool, E>`"
)]
pub trait Guard {
    /// Whether the run stops.
    ///
    /// # Errors
    ///
    /// The error of the guard.
    fn stops(self) -> Result<bool, BoxError>;
}

#[diagnostic::do_not_recommend]
impl Guard for bool {
    fn stops(self) -> Result<bool, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> Guard for Result<bool, E> {
    fn stops(self) -> Result<bool, BoxError> {
        self.map_err(Into::into)
    }
}
