//! How a program reaches a model: its headers, its tokens, its HTTP client.

use std::future::Future;

use petalflow::BoxError;

use super::renewing::Renewing;
use super::{AccessToken, ProviderModel};

impl ProviderModel {
    /// Adds a header to each request. It replaces one that the client would send under the same name. A value whose name
    /// is that of a secret, such as `x-api-key` or `authorization`, is not shown in errors.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("claude-sonnet-4-6")?.with_header("anthropic-beta", "context-1m-2025-08-07");
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let endpoint = &mut self.client.client.endpoint;
        endpoint.add_header(name.into(), value.into());
        self
    }

    /// Sets a callback that fetches tokens, which are sent as `Authorization: Bearer ..` instead of a key: those of
    /// Microsoft Entra for Azure, those of Google for Vertex AI, or those of a gateway.
    ///
    /// A token is used until shortly before it expires. The callback is called once for all requests that wait for a token,
    /// also if it fails. A request that the server refuses with the status 401 is sent once more, with a new token.
    ///
    /// ```
    /// use petalflow_llm::{AccessToken, AzureApi, LlmError, ProviderModel};
    /// use std::time::Duration;
    ///
    /// # async fn fetch_token() -> Result<String, LlmError> { Ok("eyJ0".into()) }
    /// let model = ProviderModel::azure("https://ours.openai.azure.com", "gpt-5-mini", AzureApi::Responses)
    ///     .with_token(|| async { Ok(AccessToken::new(fetch_token().await?).expires_in(Duration::from_secs(3_600))) });
    /// # let _ = model;
    /// ```
    ///
    /// # Errors
    ///
    /// If the callback fails, so does the request: with the kind [`LlmErrorKind::Auth`](crate::LlmErrorKind::Auth), or with
    /// that of the callback's error if it is an [`LlmError`](crate::LlmError). A transient one is retried.
    ///
    /// # Cancel safety
    ///
    /// The future of the callback is dropped when the last request that waits for it is dropped.
    #[must_use]
    pub fn with_token<F, Fut>(mut self, fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AccessToken, BoxError>> + Send + 'static,
    {
        let endpoint = &mut self.client.client.endpoint;
        endpoint.set_tokens(Renewing::new(fetch));
        self
    }

    /// Sets the HTTP client, for a proxy, certificates of the client, or connections that several models share. Its timeouts
    /// and its trusted certificates apply, and not those of this model; its size limit and its total timeout do. Set its
    /// [`redirect::Policy`](reqwest::redirect::Policy) to none: a redirect sends the conversation to another server.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// # fn of_the_program() -> reqwest::Client {
    /// #     let tls = petalflow_llm::tls::client_config(&[]).unwrap();
    /// #     reqwest::Client::builder().tls_backend_preconfigured(tls).build().unwrap()
    /// # }
    /// let model = ProviderModel::new("gpt-5-mini")?.with_http_client(of_the_program());
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_http_client(mut self, client: reqwest::Client) -> Self {
        self.client.client.own_http = Some(client);
        self
    }
}
