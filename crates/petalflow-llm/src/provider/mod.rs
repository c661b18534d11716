//! Models of providers, over HTTP.

mod catalog;
mod endpoint;
mod error;
mod stream;
mod transport;
mod wire;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::Client;

use crate::usage::Prices;
use crate::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream};
use catalog::{COMPATIBLE, Family, Provider, Quirks};
use endpoint::Endpoint;
use petalflow::async_trait;
use transport::{Answer, Limits, Transport};
use wire::Target;

/// A model of a provider: OpenAI, Anthropic, Gemini, Ollama and many others, or any OpenAI-compatible server.
///
/// The key comes from the provider's usual environment variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
/// `GEMINI_API_KEY`, ..) or from [`with_key`](Self::with_key). Errors and `Debug` output never contain it. The
/// connection is opened by the first request, and reused by later ones.
///
/// Each request is one attempt. For retries, wrap the model in [`Retrying`](crate::Retrying).
///
/// ```no_run
/// use petalflow_llm::{LlmClient, LlmRequest, ProviderModel, Retrying};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow_llm::LlmError> {
/// let model = Retrying::new(ProviderModel::new("gpt-5-mini")?);
/// println!("{}", model.complete(&LlmRequest::prompt("Say hello")).await?.text());
/// # Ok(())
/// # }
/// ```
pub struct ProviderModel {
    name: String,
    family: Family,
    quirks: Quirks,
    capabilities: Capabilities,
    model: String,
    endpoint: Endpoint,
    prices: Prices,
    limits: Limits,
    /// Certificates that are trusted in addition to the machine's.
    root_certificates: Vec<String>,
    /// Built by the first request. The text is the reason why the build failed.
    client: OnceLock<Result<Client, String>>,
}

impl ProviderModel {
    /// A model with this name. Well-known names identify their provider (`gpt-..`, `claude-..`, `gemini-..`). Other
    /// names need a prefix: `ollama::qwen3`, `groq::llama-4`, `open_router::x/y`.
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
    /// [`LlmErrorKind::Request`] for a name that does not identify a provider.
    pub fn new(model: impl Into<String>) -> Result<Self, LlmError> {
        let model = model.into();
        match catalog::resolve(&model) {
            Some((provider, name)) => Ok(Self::of(provider, name)),
            None => Err(LlmError::request(format!(
                "model `{model}` does not identify a provider; write `ollama::{model}` or the like, or give its server's address with \
                 `ProviderModel::openai_compatible`"
            ))),
        }
    }

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
        this.endpoint = Endpoint::without_variable(base_url);
        this
    }

    fn of(provider: &Provider, model: &str) -> Self {
        let mut this = Self::with_quirks(
            provider.name,
            provider.family,
            provider.quirks,
            model.to_string(),
        );
        this.endpoint = Endpoint::of(provider);
        this
    }

    fn with_quirks(name: &str, family: Family, quirks: Quirks, model: String) -> Self {
        ProviderModel {
            name: name.to_string(),
            family,
            quirks,
            capabilities: match quirks.schema_with_tools {
                true => Capabilities::default().with_schema_with_tools(),
                false => Capabilities::default(),
            },
            model,
            endpoint: Endpoint::default(),
            prices: Prices::new(),
            limits: Limits::default(),
            root_certificates: Vec::new(),
            client: OnceLock::new(),
        }
    }

    /// Sets the name in responses, errors and traces.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
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
        self.endpoint.set_address(base_url.into());
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
        self.endpoint.set_key(&key.into());
        self
    }

    /// Sets the prices of tokens. They determine the cost in the usage.
    ///
    /// ```
    /// use petalflow_llm::ProviderModel;
    /// use petalflow_llm::usage::{Price, Prices};
    ///
    /// let prices = Prices::new().with("gpt-5-mini", Price { input: 0.25, cached: 0.025, output: 2.0 });
    /// let model = ProviderModel::new("gpt-5-mini")?.with_prices(prices);
    /// # let _ = model;
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
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
        self.limits.connect = limit;
        self.client = OnceLock::new();
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
        self.limits.idle = limit;
        self.client = OnceLock::new();
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
        self.limits.size = bytes;
        self
    }

    /// Sets the capabilities, for a server that has other ones than its kind usually has.
    ///
    /// ```
    /// use petalflow_llm::{Capabilities, LlmClient, ProviderModel};
    ///
    /// let model = ProviderModel::openai_compatible("http://localhost:8000/v1", "qwen3")
    ///     .with_capabilities(Capabilities::default().with_schema_with_tools());
    /// assert!(model.capabilities().schema_with_tools);
    /// ```
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
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
        self.root_certificates.push(pem.into());
        self.client = OnceLock::new();
        self
    }

    /// Sends requests for this model. The key is among the texts that errors do not contain.
    fn transport(&self, key: Option<&str>) -> Result<Transport, LlmError> {
        let build = || transport::client(&self.limits, &self.root_certificates);
        let client = self.client.get_or_init(build).clone();
        Ok(Transport {
            client: client.map_err(|message| {
                LlmError::request(format!("no HTTP client for `{}`: {message}", self.name))
            })?,
            limits: self.limits,
            errors: self.endpoint.errors(&self.name, key),
        })
    }

    /// What a request is written for.
    fn target<'a>(&'a self, request: &'a LlmRequest, streaming: bool) -> Target<'a> {
        let name = request.model.as_deref().unwrap_or(&self.model);
        Target {
            family: self.family,
            model: name.rsplit_once("::").map_or(name, |(_, model)| model),
            quirks: self.quirks,
            streaming,
        }
    }

    /// Sets the provider, the model and the cost of a response.
    fn completed(
        name: &str,
        model: &str,
        prices: &Prices,
        mut response: LlmResponse,
    ) -> LlmResponse {
        response.provider = name.to_string();
        if response.model.is_empty() {
            response.model = model.to_string();
        }
        let price = prices.get(&response.model).or_else(|| prices.get(model));
        response.usage.cost = price.map_or(0.0, |price| price.cost(&response.usage));
        response
    }
}

#[async_trait]
impl LlmClient for ProviderModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let target = self.target(request, false);
        let (key, sent) = self.endpoint.request(&self.name, &target, request)?;
        let transport = self.transport(key.as_deref())?;
        let body = transport.document(sent).await?;
        let response = target.parser().read_body(&body);
        let response = response.map_err(|error| transport.errors.instead(error.as_ref(), &body))?;
        Self::completed(&self.name, target.model, &self.prices, response).checked(request)
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let target = self.target(request, true);
        let (key, sent) = self.endpoint.request(&self.name, &target, request)?;
        let transport = self.transport(key.as_deref())?;
        let errors = transport.errors.clone();
        let events = match transport.events(sent).await? {
            Answer::Events(events) => events,
            Answer::Document(body) => {
                let response = target.parser().read_body(&body);
                let response = response.map_err(|error| errors.instead(error.as_ref(), &body))?;
                let response = Self::completed(&self.name, target.model, &self.prices, response);
                return Ok(LlmStream::from_response(response.checked(request)?));
            }
        };
        let (name, model) = (self.name.clone(), target.model.to_string());
        let prices = self.prices.clone();
        let end = move |response| Self::completed(&name, &model, &prices, response);
        let mut events = Box::pin(stream::content(events, target.parser(), errors, end));
        // A failure before the first content is an error, not a stream: it can be retried.
        let first = match events.next().await {
            Some(Err(error)) => return Err(error),
            first => first,
        };
        let events = futures_util::stream::iter(first).chain(events);
        Ok(LlmStream::new(request, events))
    }
}

impl fmt::Debug for ProviderModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omit the key, and the address, which may include a key.
        f.debug_struct("ProviderModel")
            .field("name", &self.name)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
