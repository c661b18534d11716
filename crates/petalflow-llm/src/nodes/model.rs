//! The model client of a run, as a managed value.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::LlmClient;

/// The model that the nodes of a run call: a managed value. Clones refer to the same model.
///
/// ```
/// use petalflow_llm::{LlmRequest, ScriptedModel};
/// use petalflow_llm::nodes::Model;
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
/// async fn write(topic: &str, model: Managed<Model>) -> petalflow::Result<EssayDraft> {
///     let request = LlmRequest::prompt(format!("Write about {topic}."));
///     Ok(EssayDraft(model.complete(&request).await?.text()))
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = Model::new(ScriptedModel::new(["Petals are leaves."]));
/// let essay = Write::new().manage(model).run("petals".to_string()).await?;
/// assert_eq!(essay.draft, "Petals are leaves.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Model(Arc<dyn LlmClient>);

impl Model {
    /// A model that uses this client.
    pub fn new(client: impl LlmClient) -> Self {
        Model(Arc::new(client))
    }

    /// The client.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ScriptedModel};
    /// use petalflow_llm::nodes::Model;
    ///
    /// let model = Model::new(ScriptedModel::new(["hi"]));
    /// assert_eq!(model.client().name(), "scripted");
    /// ```
    pub fn client(&self) -> &Arc<dyn LlmClient> {
        &self.0
    }
}

impl Deref for Model {
    type Target = dyn LlmClient;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Model").field(&self.0.name()).finish()
    }
}
