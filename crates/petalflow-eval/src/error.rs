//! Errors of evaluations.

use petalflow::BoxError;

/// Error of a file of cases.
///
/// ```
/// let error = petalflow_eval::cases_from_json(r#"[{"name": "a", "turn": []}]"#).unwrap_err();
/// assert!(error.to_string().starts_with("the cases cannot be read"));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The text is not a list of cases.
    #[error("the cases cannot be read: give a list of cases, or an object with the field `cases`")]
    Format(#[source] BoxError),
    /// Two cases have the same name.
    #[error("two cases are called `{0}`: give one of them another name")]
    DuplicateName(String),
    /// A case has no turn.
    #[error("case `{0}` has no turn: add one with what the user says")]
    NoTurn(String),
    /// A case of ADK in which a model plays the user.
    #[error(
        "case `{0}` has a `conversation_scenario`, and no user is simulated: give it a `conversation` with what the user says, or remove it"
    )]
    Scenario(String),
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn texts_are_said_once() {
        check_texts(&EvalError::Format("no list".into()));
        check_texts(&EvalError::DuplicateName("a".into()));
        check_texts(&EvalError::Scenario("a".into()));
    }
}
