//! The result of a guardrail.

/// The result of a check of a `T`.
///
/// ```
/// use petalflow_agent::guardrail::Verdict;
///
/// assert_eq!(Verdict::<String>::block("no"), Verdict::Block("no".to_string()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<T> {
    /// The content is used as it is.
    Pass,
    /// This is used instead. Later guardrails check it.
    Rewrite(T),
    /// The content is not used. The message is for the user, or for the model if the content is a call.
    Block(String),
    /// The run fails with [`AgentError::Guardrail`](crate::AgentError::Guardrail) and this reason.
    Fail(String),
}

impl<T> Verdict<T> {
    /// [`Verdict::Block`] with this message.
    pub fn block(message: impl Into<String>) -> Self {
        Verdict::Block(message.into())
    }

    /// [`Verdict::Fail`] with this reason.
    pub fn fail(reason: impl Into<String>) -> Self {
        Verdict::Fail(reason.into())
    }
}
