//! Models of providers, over HTTP.

mod call_format;
mod error;
mod gemini_contents;
mod http;
mod request;
mod response;
mod stream;
mod wire;

use std::env;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};

use crate::secrets::Secrets;
use crate::usage::Prices;
use crate::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use error::ErrorConverter;
use petalflow::async_trait;

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
    kind: AdapterKind,
    capabilities: Capabilities,
    model: String,
    base_url: Option<String>,
    /// Whether the key in the environment belongs to another provider.
    ignores_environment_key: bool,
    key: Option<String>,
    prices: Prices,
    timeouts: http::Timeouts,
    /// Certificates that are trusted in addition to the machine's.
    root_certificates: Vec<String>,
    /// Built by the first request. The text is the reason why the build failed.
    client: OnceLock<Result<Client, String>>,
}

/// OpenAI-compatible servers that reject messages with reasoning. Some other servers require the reasoning.
const REJECTS_REASONING: [&str; 3] = ["api.openai.com", "api.groq.com", "api.cerebras.ai"];

/// Ollama's OpenAI-compatible API. It supports call ids and response schemas; Ollama's own API supports neither.
const OLLAMA: &str = "http://localhost:11434/v1/";

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
        let kind = AdapterKind::from_model(&model).ok();
        // The `genai` library assigns unknown names to Ollama on this machine.
        let kind = kind.filter(|kind| *kind != AdapterKind::Ollama || model.contains("::"));
        let Some(kind) = kind else {
            return Err(LlmError::request(format!(
                "model `{model}` does not identify a provider; write `ollama::{model}` or the like, or give its server's address with \
                 `ProviderModel::openai_compatible`"
            )));
        };
        let name = kind.as_lower_str().to_string();
        if kind == AdapterKind::Ollama {
            let mut this = Self::of(AdapterKind::OpenAI, name, model);
            this.ignores_environment_key = true;
            // With a schema, it never calls tools.
            this.capabilities = Capabilities::default();
            return Ok(this.with_base_url(OLLAMA));
        }
        Ok(Self::of(kind, name, model))
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
        let mut this = Self::of(
            AdapterKind::OpenAI,
            "openai-compatible".to_string(),
            model.into(),
        );
        this.ignores_environment_key = true;
        this.with_base_url(base_url)
    }

    fn of(kind: AdapterKind, name: String, model: String) -> Self {
        let capabilities = match kind {
            AdapterKind::OpenAI | AdapterKind::OpenAIResp | AdapterKind::Anthropic => {
                Capabilities::default().with_schema_with_tools()
            }
            // Gemini rejects the combination. For other providers it is unknown.
            _ => Capabilities::default(),
        };
        ProviderModel {
            name,
            kind,
            capabilities,
            model,
            base_url: None,
            ignores_environment_key: false,
            key: None,
            prices: Prices::new(),
            timeouts: http::Timeouts::default(),
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
    /// Gemini it ends in `/v1beta`, for Ollama in `/v1`.
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
        let mut base_url = base_url.into();
        if !base_url.ends_with('/') {
            base_url.push('/');
        }
        self.base_url = Some(base_url);
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
        self.key = Some(key.into().trim().to_string());
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
        self.timeouts.connect = limit;
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
        self.timeouts.idle = limit;
        self.client = OnceLock::new();
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

    fn client(&self) -> Result<&Client, LlmError> {
        let built = self
            .client
            .get_or_init(|| http::client(&self.timeouts, &self.root_certificates));
        built.as_ref().map_err(|message| {
            LlmError::request(format!("no HTTP client for `{}`: {message}", self.name))
        })
    }

    /// The endpoint of a request, and the key for it.
    async fn endpoint(
        &self,
        request: &LlmRequest,
    ) -> Result<(ServiceTarget, Option<String>), LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.model);
        let iden = ModelIden::new(self.kind, model);
        let resolved = self.client()?.resolve_service_target(iden).await;
        let mut target = resolved.map_err(|error| self.errors(None).convert(error))?;
        if let Some(url) = &self.base_url {
            // The errors do not name the address, which may include a key.
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(self.errors(None).invalid_address());
            }
            if let Err(error) = reqwest::Url::parse(url) {
                return Err(self.errors(None).unreadable_address(&error));
            }
            target.endpoint = Endpoint::from_owned(url.as_str());
        }
        let variable = match &target.auth {
            AuthData::FromEnv(variable) => Some(variable.clone()),
            _ => None,
        };
        let key = match (&self.key, &variable) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(variable)) if !self.ignores_environment_key => {
                let key = env::var(variable).ok();
                key.map(|key| key.trim().to_string())
            }
            _ => None,
        };
        // A server would reject the key and might quote a part of it.
        if let Some(key) = &key
            && key.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return Err(self.errors(None).invalid_key());
        }
        match (&key, variable) {
            (Some(key), _) => target.auth = AuthData::from_single(key.as_str()),
            // The user's own servers often accept any key.
            (None, Some(_)) if self.base_url.is_some() => {
                target.auth = AuthData::from_single("none");
            }
            (None, Some(variable)) => {
                return Err(LlmError::new(
                    LlmErrorKind::Auth,
                    format!(
                        "no key for `{}`; set {variable}, or give one with `with_key`",
                        self.name
                    ),
                ));
            }
            (None, None) => {}
        }
        Ok((target, key))
    }

    fn errors(&self, key: Option<String>) -> ErrorConverter {
        let mut secrets = Secrets::default();
        let address = self.base_url.as_deref().and_then(|url| url.parse().ok());
        let in_address = address.iter().flat_map(secrets_in_address);
        key.into_iter()
            .chain(in_address)
            .for_each(|secret| secrets.add(secret));
        ErrorConverter::new(self.name.clone(), secrets)
    }
}

#[diagnostic::do_not_recommend]
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
        let (endpoint, key) = self.endpoint(request).await?;
        let errors = self.errors(key);
        let target = self.request_target(request);
        let chat = request::chat(target, request);
        let options = request::options(target, request).with_capture_raw_body(true);
        let result = self.client()?.exec_chat(endpoint, chat, Some(&options));
        // The `genai` library may panic on unexpected data from the server.
        let result = AssertUnwindSafe(result).catch_unwind().await;
        let result = result.map_err(|_| errors.panicked())?;
        let body = match &result {
            Ok(response) => response.captured_raw_body.clone(),
            Err(error) => response::body(error),
        };
        let response = match (body.as_ref().and_then(wire::parse_body), result) {
            (Some(Ok(response)), _) => response,
            (Some(Err(error)), _) => return Err(errors.reported(&error)),
            (None, Ok(response)) => response::from_genai(response),
            // The library's error does not describe an unknown format.
            (None, Err(_)) if body.is_some() => return Err(errors.no_content(body.as_ref())),
            (None, Err(error)) => return Err(errors.convert(error)),
        };
        if wire::is_empty(&response) {
            return Err(errors.no_content(body.as_ref()));
        }
        let model = self.model_name(request);
        response::complete(response, &self.name, model, &self.prices).checked(request)
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let (endpoint, key) = self.endpoint(request).await?;
        let errors = self.errors(key);
        let target = self.request_target(request);
        let chat = request::chat(target, request);
        let frames = stream::FrameSink::default();
        let options = request::options(target, request)
            .with_capture_usage(true)
            .with_raw_frame_sink_arc(frames.sink());
        let response = self
            .client()?
            .exec_chat_stream(endpoint, chat, Some(&options))
            .await
            .map_err(|error| errors.convert(error))?;
        let model = self.model_name(request).to_string();
        let (name, prices) = (self.name.clone(), self.prices.clone());
        let end = move |response| response::complete(response, &name, &model, &prices);
        let events = stream::events(self.kind, response.stream, frames, errors, end);
        let mut events = Box::pin(events);
        // The request is sent only now: its failure is an error, not a stream.
        let first = match events.next().await {
            Some(Err(error)) => return Err(error),
            first => first,
        };
        let events = futures_util::stream::iter(first).chain(events);
        Ok(LlmStream::new(request, events))
    }
}

impl ProviderModel {
    /// The name of the model for a request.
    fn model_name<'a>(&'a self, request: &'a LlmRequest) -> &'a str {
        let name = request.model.as_deref().unwrap_or(&self.model);
        name.rsplit_once("::").map_or(name, |(_, model)| model)
    }

    /// The provider and the model of a request, and what they accept.
    fn request_target<'a>(&'a self, request: &'a LlmRequest) -> request::RequestTarget<'a> {
        let address = self.base_url.as_deref();
        let rejects_reasoning = match (self.kind, address) {
            (AdapterKind::Groq, _) | (AdapterKind::OpenAI, None) => true,
            (AdapterKind::OpenAI, Some(address)) => {
                REJECTS_REASONING.iter().any(|host| address.contains(host))
            }
            _ => false,
        };
        request::RequestTarget {
            kind: self.kind,
            model: self.model_name(request),
            accepts_reasoning: !rejects_reasoning,
        }
    }
}

/// The texts in an address that may be secret: the password, or the user if there is none, and the values of the query,
/// as they are written and decoded. Shorter texts than four characters are not secret, and would occur in other words.
fn secrets_in_address(url: &reqwest::Url) -> Vec<String> {
    let user = url.password().unwrap_or(url.username());
    let query = url.query().unwrap_or_default().split('&');
    let written = query.filter_map(|pair| Some(pair.split_once('=')?.1));
    // `with_base_url` adds the slash.
    let written = written.map(|value| value.trim_end_matches('/').to_string());
    let decoded = url.query_pairs().map(|(_, value)| value.into_owned());
    let decoded = decoded.map(|value| value.trim_end_matches('/').to_string());
    let mut secrets: Vec<String> = written.chain(decoded).chain([user.to_string()]).collect();
    secrets.retain(|secret| secret.chars().count() >= 4);
    secrets
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
