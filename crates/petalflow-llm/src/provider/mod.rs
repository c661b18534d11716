//! Models of providers, over HTTP.

mod abilities;
mod access;
mod access_token;
#[cfg(feature = "bedrock")]
mod aws;
#[cfg(feature = "bedrock")]
mod aws_events;
#[cfg(feature = "bedrock")]
mod bedrock;
mod catalog;
mod clouds;
mod connection;
mod content_filter;
mod endpoint;
mod error;
mod json_memory;
mod models;
mod named;
mod named_clouds;
mod ordered;
mod pairs;
mod pause;
mod plan;
mod platform;
mod publisher;
mod renewing;
mod stream;
mod transport;
#[cfg(feature = "voice")]
pub mod voice;
mod wire;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use crate::usage::{Price, Prices, TokenCount};
use crate::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, Retrying};
pub use access_token::AccessToken;
#[cfg(feature = "bedrock")]
pub use aws::AwsCredentials;
use catalog::{COMPATIBLE, Family, Platform, Provider, Quirks};
pub use clouds::AzureApi;
use connection::Connection;
use endpoint::Endpoint;
use petalflow::async_trait;
use petalflow::policy::Retry;
use serde_json::{Map, Value};
use transport::Limits;

/// The default of [`ProviderModel::with_total_timeout`].
const MAX_TOTAL_TIME: Duration = Duration::from_hours(1);

/// A model of a provider: OpenAI, Anthropic, Gemini, Ollama and many others, or any OpenAI-compatible server.
///
/// The key comes from the provider's usual environment variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
/// `GEMINI_API_KEY`, ..) or from [`with_key`](Self::with_key). Errors and `Debug` output never contain it. The
/// connection is opened by the first request, and reused by later ones.
///
/// A request that fails with a transient error, such as a rate limit, is sent again, up to three times in all; see
/// [`with_retry`](Self::with_retry). Time and memory of a request are limited, whatever the server sends:
/// [`with_idle_timeout`](Self::with_idle_timeout), [`with_total_timeout`](Self::with_total_timeout),
/// [`with_max_response_size`](Self::with_max_response_size).
///
/// ```no_run
/// use petalflow_llm::{LlmClient, LlmRequest, ProviderModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow_llm::LlmError> {
/// let model = ProviderModel::new("gpt-5-mini")?;
/// println!("{}", model.complete(&LlmRequest::prompt("Say hello")).await?.text());
/// # Ok(())
/// # }
/// ```
pub struct ProviderModel {
    client: Retrying<Connection>,
}

impl ProviderModel {
    /// A model of an OpenAI-compatible server, such as vLLM, llama.cpp or a gateway. The base URL is the part before
    /// `chat/completions`, and often ends in `/v1`. Only a key that is set explicitly is sent.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ProviderModel};
    ///
    /// let model = ProviderModel::openai_compatible("http://localhost:8000/v1", "qwen3").with_name("vllm");
    /// assert_eq!(model.name(), "vllm");
    /// ```
    pub fn openai_compatible(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let base_url = base_url.into();
        // OpenAI itself and other providers of the table keep their differences at their own addresses.
        let known = catalog::by_address(&base_url).filter(|known| known.family == Family::Chat);
        let mut this = Self::with_quirks(
            "openai-compatible",
            Family::Chat,
            known.map_or(COMPATIBLE, |known| known.quirks),
            model.into(),
        );
        this.client.client.provider = known.map(Provider::identity);
        this.client.client.endpoint = Endpoint::without_variable(base_url);
        this
    }

    fn of(provider: &Provider, model: &str) -> Self {
        let mut this = Self::with_quirks(
            provider.name,
            provider.family,
            provider.quirks,
            model.to_string(),
        );
        this.client.client.provider = Some(provider.identity());
        this.client.client.endpoint = Endpoint::of(provider);
        this
    }

    fn with_quirks(name: &str, family: Family, quirks: Quirks, model: String) -> Self {
        let connection = Connection {
            name: name.to_string(),
            provider: None,
            family,
            platform: Platform::Provider,
            quirks,
            capabilities: Vec::new(),
            model,
            endpoint: Endpoint::default(),
            prices: Prices::new(),
            limits: Limits::default(),
            root_certificates: Vec::new(),
            own_http: None,
            http: OnceLock::new(),
        };
        // The timeout between two reads is that of the connection: a model may reason for minutes before it answers.
        ProviderModel {
            client: Retrying::new(connection)
                .without_idle_timeout()
                .with_total_timeout(MAX_TOTAL_TIME),
        }
    }

    /// The vectors of these texts, from an embedding model. All have the same length.
    ///
    /// As many requests are sent, one after the other, as the provider needs: OpenAI takes 2,048 texts in one, and Gemini
    /// 100. [`with_texts_per_request`](Self::with_texts_per_request) sets the number for another server.
    ///
    /// With `petalflow-memory`, it makes a memory searchable by meaning:
    ///
    /// ```no_run
    /// use petalflow::BoxError;
    /// use petalflow_llm::ProviderModel;
    /// use petalflow_memory::{InMemory, Memory, VectorIndex};
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let model = Arc::new(ProviderModel::new("text-embedding-3-small")?);
    /// let embed = move |texts: Vec<String>| {
    ///     let model = Arc::clone(&model);
    ///     async move { model.embed(&texts).await.map_err(BoxError::from) }
    /// };
    /// let memory = Memory::new(VectorIndex::new(InMemory::new(), embed));
    /// # let _ = memory;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`complete`](LlmClient::complete), and if the provider has no embeddings, as Anthropic.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
        let mut vectors = Vec::with_capacity(texts.len());
        if texts.is_empty() {
            return Ok(vectors);
        }
        for texts in self.client.client.embedding_batches(texts) {
            let request = self.client.retried(|connection| connection.embed(texts));
            vectors.extend(request.await?);
        }
        Ok(vectors)
    }

    /// Sets the maximum number of texts in one request of [`embed`](Self::embed), for a server that takes fewer than its
    /// format allows. Zero counts as one.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::openai_compatible("http://localhost:8080/v1", "bge-m3").with_texts_per_request(32);
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn with_texts_per_request(mut self, texts: usize) -> Self {
        self.client.client.quirks.texts = texts;
        self
    }

    /// The schemas of a request that the provider does not enforce although it enforces others, and why: by the name of
    /// the tool, and `answer` for that of the answer. Such a schema is sent without `strict`. The response to the request
    /// has the same in `meta["not_strict"]`.
    ///
    /// ```
    /// use petalflow_llm::{LlmRequest, ProviderModel};
    /// use serde_json::json;
    ///
    /// let model = ProviderModel::new("claude-sonnet-4-6")?;
    /// let scores = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    /// let found = model.not_strict(&LlmRequest::prompt("Score them").with_schema(scores));
    /// assert_eq!(found["answer"], "the schema cannot be strict: it accepts properties with any name");
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    pub fn not_strict(&self, request: &LlmRequest) -> Map<String, Value> {
        self.client.client.not_strict(request)
    }

    /// Sets the name in responses, errors and traces.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.client.client.name = name.into();
        self
    }

    /// Sets the base URL, such as that of a proxy or a test server. It is the part before the provider's own paths: for
    /// Gemini it ends in `/v1beta`, for Ollama in `/v1`. A query in it is sent with each request.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_base_url("http://localhost:8080/v1");
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_base_url(mut self, base_url: impl Into<String>) -> Self {
        self.client.client.endpoint.set_address(base_url.into());
        self
    }

    /// Sets the key. White space around it is removed: a key that was read from a file may end with a line break.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_key("sk-of-mine");
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.client.client.endpoint.set_key(&key.into());
        self
    }

    /// Sets the retry policy: 3 attempts by default, with growing delays. Only transient errors before the first content
    /// are retried, after the longer of the policy's and the provider's delay.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_retry(Retry::attempts(5).jitter());
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.client = self.client.with_retry(retry);
        self
    }

    /// Makes one attempt per request, for callers that retry by themselves.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.without_retry();
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn without_retry(self) -> Self {
        self.with_retry(Retry::attempts(1))
    }

    /// Sets the prices of tokens. They determine the cost in the usage.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    /// use petalflow_llm::usage::{Price, Prices};
    ///
    /// let prices = Prices::new().with("gpt-5-mini", Price { input: 0.25, cached: 0.025, output: 2.0, ..Price::default() });
    /// let model = ProviderModel::new("gpt-5-mini")?.with_prices(prices);
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.client.client.prices = prices;
        self
    }

    /// Sets the timeout for connecting: 10 s by default.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    /// use std::time::Duration;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_connect_timeout(Duration::from_secs(5));
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.client.client.limits.connect = limit;
        self.client.client.http = OnceLock::new();
        self
    }

    /// Sets the maximum time without data from the server: 10 min by default, because some models reason for long.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    /// use std::time::Duration;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_idle_timeout(Duration::from_secs(5));
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_idle_timeout(mut self, limit: Duration) -> Self {
        self.client.client.limits.idle = limit;
        self.client.client.http = OnceLock::new();
        self
    }

    /// Sets the maximum time for a request with its retries, and for a stream to its end: 1 h by default.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    /// use std::time::Duration;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_total_timeout(Duration::from_secs(60));
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_total_timeout(mut self, limit: Duration) -> Self {
        self.client = self.client.with_total_timeout(limit);
        self
    }

    /// Sets the maximum size of a response, in bytes: 64 MiB by default. A larger response is an error.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    ///
    /// let model = ProviderModel::new("gpt-5-mini")?.with_max_response_size(1024 * 1024);
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_max_response_size(mut self, bytes: usize) -> Self {
        self.client.client.limits.size = bytes;
        self
    }

    /// Sets the capabilities, for a model or a server that has other ones than its kind usually has. They apply to all
    /// models that requests name.
    ///
    /// ```
    /// use petalflow_llm::{Capabilities, LlmClient, ProviderModel};
    ///
    /// let model = ProviderModel::openai_compatible("http://localhost:8000/v1", "qwen3")
    ///     .with_capabilities(Capabilities::default().with_schema_with_tools());
    /// assert!(model.capabilities().schema_with_tools);
    ///
    /// // One switch of a model, and the others as they were:
    /// let model = ProviderModel::new("gpt-5-mini")?;
    /// let mut capabilities = model.capabilities();
    /// capabilities.parallel_calls = false;
    /// let model = model.with_capabilities(capabilities);
    /// assert!(model.capabilities().strict_schemas);
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.client.client.capabilities.clear();
        self.with_capabilities_of("", capabilities)
    }

    /// Sets the capabilities of the models whose names start with this text, before those that are known. The longest
    /// start counts.
    ///
    /// ```
    /// use petalflow_llm::request::TypedOutput;
    /// use petalflow_llm::{LlmClient, ProviderModel};
    ///
    /// let model = ProviderModel::new("ollama::qwen3")?;
    /// let mut of_qwen = model.capabilities();
    /// of_qwen.typed_output = TypedOutput::Prompt;
    /// let model = model.with_capabilities_of("qwen", of_qwen);
    /// assert_eq!(model.capabilities().typed_output, TypedOutput::Prompt);
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_capabilities_of(
        mut self,
        start: impl Into<String>,
        capabilities: Capabilities,
    ) -> Self {
        let entries = &mut self.client.client.capabilities;
        let start = start.into();
        entries.retain(|(known, _)| *known != start);
        entries.push((start, capabilities));
        self
    }

    /// Adds a trusted root certificate, in PEM format. The machine's root certificates stay trusted; `SSL_CERT_FILE`
    /// and `SSL_CERT_DIR` set their location.
    ///
    /// ```no_run
    /// use petalflow_llm::ProviderModel;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let ours = std::fs::read_to_string("/etc/ssl/company-root.pem")?;
    /// let model = ProviderModel::openai_compatible("https://models.internal/v1", "qwen3").with_root_certificate(ours);
    /// # let _ = model;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_root_certificate(mut self, pem: impl Into<String>) -> Self {
        self.client.client.root_certificates.push(pem.into());
        self.client.client.http = OnceLock::new();
        self
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl LlmClient for ProviderModel {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.client.price(model)
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        pause::complete(&self.client, request).await
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let stream = self.client.stream(request).await?;
        Ok(pause::stream(self.client.clone(), request, stream))
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.client.count_tokens(request).await
    }
}

impl fmt::Debug for ProviderModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omit the key, and the address, which may include a key.
        f.debug_struct("ProviderModel")
            .field("name", &self.name())
            .field("model", &self.model())
            .finish_non_exhaustive()
    }
}
