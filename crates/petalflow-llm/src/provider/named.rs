//! Models by their names.

use super::{ProviderModel, catalog, named_clouds};
use crate::LlmError;

impl ProviderModel {
    /// A model with this name. Well-known names identify their provider (`gpt-..`, `claude-..`, `gemini-..`). Other
    /// names need a prefix: `ollama::qwen3`, `groq::llama-4`, `open_router::x/y`.
    ///
    /// Models of clouds have the prefixes `azure::`, `azure_resp::`, `vertex::` and, with the feature `bedrock`,
    /// `bedrock::`. Environment variables say where they are: `AZURE_OPENAI_ENDPOINT`; `GOOGLE_CLOUD_PROJECT` and
    /// `GOOGLE_CLOUD_LOCATION`; `AWS_REGION`.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ProviderModel};
    ///
    /// assert_eq!(ProviderModel::new("claude-sonnet-4-6")?.name(), "anthropic");
    /// assert_eq!(ProviderModel::new("ollama::qwen3")?.name(), "ollama");
    /// assert!(ProviderModel::new("qwen3").is_err());
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Request`](crate::LlmErrorKind::Request) for a name that does not identify a provider, and for a model
    /// of a cloud without the variables that say where it is.
    pub fn new(model: impl Into<String>) -> Result<Self, LlmError> {
        let model = model.into();
        if let Some(of_cloud) = named_clouds::resolve(&model) {
            return of_cloud;
        }
        match catalog::resolve(&model) {
            Some((provider, name)) => Ok(Self::of(provider, name)),
            None => Err(LlmError::request(format!(
                "model `{model}` does not identify a provider; write `ollama::{model}` or the like, or give its server's address with \
                 `ProviderModel::openai_compatible`"
            ))),
        }
    }
}
