//! Files of a conversation, by name.

use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

/// Where an agent's instructions find the artifacts that they name: `{artifact.style}`.
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
    /// The newest version of an artifact as text; none if there is no such artifact.
    fn text<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<String>, BoxError>>;
}
