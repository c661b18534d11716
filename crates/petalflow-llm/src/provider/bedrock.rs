//! Models at Bedrock.

use std::future::Future;

use petalflow::BoxError;

use super::ProviderModel;
use super::aws::{AwsCredentials, Signer};
use super::catalog::{COMPATIBLE, Family};
use super::endpoint::Endpoint;

impl ProviderModel {
    /// A model at Amazon Bedrock: the region, and the id of the model, of an inference profile, or their resource name. It is
    /// asked with `Converse` and `ConverseStream`.
    ///
    /// A key of Bedrock comes from `AWS_BEARER_TOKEN_BEDROCK` or from [`with_key`](Self::with_key). Without one, requests are
    /// signed with the credentials of [`with_aws_credentials`](Self::with_aws_credentials), or with those of
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    ///
    /// Guardrails and other options are fields of `Converse`, in [`LlmRequest::extra`](crate::LlmRequest::extra). What a
    /// guardrail found is in `meta["trace"]` of the response.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ProviderModel};
    ///
    /// let model = ProviderModel::bedrock("eu-central-1", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0");
    /// assert_eq!(model.name(), "bedrock");
    /// ```
    pub fn bedrock(region: impl Into<String>, model: impl Into<String>) -> Self {
        let region: String = region.into();
        let address = format!("https://bedrock-runtime.{region}.amazonaws.com");
        Self::bedrock_at(address, region, model.into())
    }

    /// A model of Bedrock at this address.
    pub(super) fn bedrock_at(address: String, region: String, model: String) -> Self {
        let mut this = Self::with_quirks("bedrock", Family::Converse, COMPATIBLE, model);
        this.client.client.provider = Some("bedrock");
        let mut endpoint = Endpoint::with_variable(address, Some("AWS_BEARER_TOKEN_BEDROCK"));
        endpoint.signer = Some(Signer::new(region));
        this.client.client.endpoint = endpoint;
        this
    }

    /// Sets a callback for the credentials that requests to Bedrock are signed with. As for
    /// [`with_token`](Self::with_token), they are kept until shortly before they expire, fetched once for all requests that
    /// wait, and once more if the server says that they have expired. Models of other providers do not use them.
    ///
    /// ```
    /// use petalflow_llm::{AwsCredentials, ProviderModel};
    ///
    /// let fixed = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI");
    /// let model = ProviderModel::bedrock("us-east-1", "amazon.nova-micro-v1:0")
    ///     .with_aws_credentials(move || std::future::ready(Ok(fixed.clone())));
    /// # let _ = model;
    /// ```
    ///
    /// # Errors
    ///
    /// If the callback fails, so does the request.
    ///
    /// # Cancel safety
    ///
    /// The future of the callback is dropped when the last request that waits for it is dropped.
    #[must_use]
    pub fn with_aws_credentials<F, Fut>(mut self, fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AwsCredentials, BoxError>> + Send + 'static,
    {
        if let Some(signer) = &mut self.client.client.endpoint.signer {
            signer.set_source(fetch);
        }
        self
    }
}
