//! Models at the platforms of clouds.

use super::ProviderModel;
use super::catalog::{Family, OPENAI, Platform, Quirks};
use super::endpoint::Endpoint;
use super::platform::vertex_host;
use super::publisher::Publisher;
use reqwest::Url;

/// The interface of Azure that a model is reached with.
///
/// ```
/// use petalflow_llm::{AzureApi, LlmClient, ProviderModel};
///
/// let api = AzureApi::Deployments { api_version: "2024-10-21".into() };
/// let model = ProviderModel::azure("https://ours.openai.azure.com", "my-gpt-4o", api);
/// assert_eq!((model.name(), model.model()), ("azure", Some("my-gpt-4o")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AzureApi {
    /// Chat completions at `/openai/v1`.
    Chat,
    /// Responses at `/openai/v1`, for models that reason.
    Responses,
    /// Chat completions at `/openai/deployments/{name}`.
    Deployments {
        /// The version of the interface, such as `2024-10-21`.
        api_version: String,
    },
}

impl ProviderModel {
    /// A model that is deployed at Azure: the address of the resource, such as `https://ours.openai.azure.com`, and the name
    /// of the deployment. The key comes from `AZURE_OPENAI_API_KEY` or from [`with_key`](Self::with_key); for Microsoft
    /// Entra, [`with_token`](Self::with_token) fetches tokens.
    ///
    /// What Azure's content filter found is in the response's `meta`: `prompt_filter_results`, `content_filter_results` and
    /// `content_filters`. The error for a prompt that it refuses names the categories.
    ///
    /// ```
    /// use petalflow_llm::{AzureApi, ProviderModel};
    ///
    /// let model = ProviderModel::azure("https://ours.openai.azure.com", "gpt-5-mini", AzureApi::Responses);
    /// # let _ = model;
    /// ```
    pub fn azure(
        resource: impl Into<String>,
        deployment: impl Into<String>,
        api: AzureApi,
    ) -> Self {
        let resource: String = resource.into();
        let resource = resource.trim_end_matches('/');
        let of_v1 = || {
            let before = resource.strip_suffix("/openai/v1").unwrap_or(resource);
            format!("{before}/openai/v1")
        };
        let (family, platform, address) = match api {
            AzureApi::Chat => (Family::Chat, Platform::Azure, of_v1()),
            AzureApi::Responses => (Family::Responses, Platform::Azure, of_v1()),
            AzureApi::Deployments { api_version } => {
                let address = with_version(resource, &api_version);
                (Family::Chat, Platform::AzureDeployments, address)
            }
        };
        let deployment = deployment.into();
        let mut this = Self::on_platform("azure", family, platform, OPENAI, deployment);
        let endpoint = Endpoint::with_variable(address, Some("AZURE_OPENAI_API_KEY"));
        this.client.client.endpoint = endpoint;
        this
    }

    /// A model of Gemini or Claude at Vertex AI: the project, the location (`global`, or a region such as `europe-west4`),
    /// and the model. [`with_token`](Self::with_token) fetches the tokens of Google.
    ///
    /// ```
    /// use petalflow_llm::{AccessToken, LlmClient, ProviderModel};
    ///
    /// # async fn access_token() -> Result<String, petalflow_llm::LlmError> { Ok("ya29".into()) }
    /// let model = ProviderModel::vertex("our-project", "global", "claude-sonnet-4-6")
    ///     .with_token(|| async { Ok(AccessToken::new(access_token().await?)) });
    /// assert_eq!(model.name(), "vertex");
    /// ```
    pub fn vertex(
        project: impl AsRef<str>,
        location: impl AsRef<str>,
        model: impl Into<String>,
    ) -> Self {
        let (project, location) = (project.as_ref(), location.as_ref());
        let server = format!("https://{}", vertex_host(location));
        Self::vertex_at(&server, project, location, model.into())
    }

    /// A model of Vertex AI at this server.
    pub(super) fn vertex_at(server: &str, project: &str, location: &str, model: String) -> Self {
        let server = server.trim_end_matches('/');
        let address = format!("{server}/v1/projects/{project}/locations/{location}");
        let Publisher { family, quirks, .. } = Publisher::of(&model);
        let mut this = Self::on_platform("vertex", family, Platform::Vertex, quirks, model);
        this.client.client.endpoint = Endpoint::with_variable(address, None);
        this
    }

    fn on_platform(
        name: &'static str,
        family: Family,
        platform: Platform,
        quirks: Quirks,
        model: String,
    ) -> Self {
        let mut this = Self::with_quirks(name, family, quirks, model);
        this.client.client.platform = platform;
        this.client.client.provider = Some(name);
        this
    }
}

/// The address with the version in its query.
fn with_version(resource: &str, version: &str) -> String {
    match Url::parse(resource) {
        Ok(mut url) => {
            url.query_pairs_mut().append_pair("api-version", version);
            url.to_string()
        }
        // The first request reports it.
        Err(_) => resource.to_string(),
    }
}
