//! Artifacts: files of a conversation, found by name.

use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

/// Source of the artifacts that an agent's instructions name, as in `{artifact.style}`.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_agent::{Agent, Artifacts};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::middleware::BoxFuture;
///
/// struct House;
///
/// impl Artifacts for House {
///     fn text<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
///         Box::pin(async move { Ok((name == "style").then(|| "short sentences".into())) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["Yes."])).instructions("Write in {artifact.style}.").artifacts(House);
/// agent.run("Do you?").await?;
/// # Ok(())
/// # }
/// ```
pub trait Artifacts: Send + Sync + 'static {
    /// The newest version of an artifact as text; `None` if there is no such artifact.
    fn text<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<String>, BoxError>>;
}
