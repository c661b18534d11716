//! Artifacts: files of a conversation, found by name.

use petalflow::{BoxError, async_trait};

/// Source of the artifacts that an agent's instructions name, as in `{artifact.style}`.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::{Agent, extension::Artifacts};
/// use petalflow_llm::ScriptedModel;
///
/// struct StyleGuide;
///
/// #[async_trait]
/// impl Artifacts for StyleGuide {
///     async fn text(&self, name: &str) -> Result<Option<String>, BoxError> {
///         Ok((name == "style").then(|| "short sentences".into()))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["Yes."])).instructions("Write in {artifact.style}.").artifacts(StyleGuide);
/// agent.run("Do you?").await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Artifacts: Send + Sync + 'static {
    /// The newest version of an artifact as text; `None` if there is no such artifact.
    ///
    /// # Errors
    ///
    /// An error ends the step.
    async fn text(&self, name: &str) -> Result<Option<String>, BoxError>;
}
