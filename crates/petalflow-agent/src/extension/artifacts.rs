//! Artifacts: files of a conversation, found by name.

use crate::artifacts::ArtifactFolder;
use petalflow::{BoxError, async_trait};

/// Source of the artifacts that an agent's instructions name, as in `{artifact.style}`.
///
/// Without a source, they are those of the [`ArtifactFolder`] that the run manages, which tools and callbacks also use:
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow_agent::Agent;
/// use petalflow_agent::artifacts::{ArtifactFolder, Artifacts};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// /// Saves a note.
/// #[tool]
/// async fn save(text: String, files: Managed<ArtifactFolder>) -> petalflow::Result<String> {
///     let version = files.write("note", "text/plain", text.as_bytes()).await?;
///     Ok(format!("saved version {version}"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("save", json!({"text": "buy tulips"})), "Saved.".into(), "Tulips.".into()]);
/// let artifacts = Artifacts::in_memory();
/// let agent = Agent::new(model).tool(save {}).instructions("The user's note: {artifact.note?}");
/// let launch = agent.launch().manage_with(artifacts.for_threads());
/// let thread = launch.store(&InMemoryStore::new()).thread("ann");
/// thread.run("Note: buy tulips.").await?;
/// thread.run("What shall I buy?").await?;
/// assert_eq!(artifacts.thread("ann")?.read("note").await?.ok_or("missing")?.text()?, "buy tulips");
/// # Ok(())
/// # }
/// ```
///
/// A source of your own:
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

#[async_trait]
impl Artifacts for ArtifactFolder {
    async fn text(&self, name: &str) -> Result<Option<String>, BoxError> {
        let artifact = self.read(name).await?;
        Ok(match artifact {
            Some(artifact) => Some(artifact.text()?.to_string()),
            None => None,
        })
    }
}
