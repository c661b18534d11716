//! Models of providers, over HTTP.

mod calls;
mod contents;
mod error;
mod http;
mod reading;
mod request;
mod response;
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

use super::{
    Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream, Prices,
};
use error::Failures;
use petalflow::async_trait;

/// A model of a provider: OpenAI, Anthropic, Gemini, Ollama and many others, or any OpenAI-compatible server.
///
/// The key comes from the provider's usual environment variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
/// `GEMINI_API_KEY`, ..) or from [`with_key`](Self::with_key). Errors and `Debug` output never contain it. The
/// connection is opened by the first request, and reused by later ones.
///
/// Each request is one attempt. For retries, wrap the model in [`Retrying`](super::Retrying).
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
    keyless: bool,
    key: Option<String>,
    prices: Prices,
    timeouts: http::Timeouts,
    /// Certificates that are trusted in addition to the machine's.
    trusted: Vec<String>,
    /// Built by the first request. The text is the reason why the build failed.
    client: OnceLock<Result<Client, String>>,
}

/// OpenAI-compatible servers that reject messages with reasoning. Some other servers require the reasoning.
const STRICT: [&str; 3] = ["api.openai.com", "api.groq.com", "api.cerebras.ai"];

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
        let known = kind.filter(|kind| *kind != AdapterKind::Ollama || model.contains("::"));
        let Some(kind) = known else {
            return Err(LlmError::request(format!(
                "model `{model}` does not say whose it is; write `ollama::{model}` or the like, or give its server's address with \
                 `ProviderModel::openai_compatible`"
            )));
        };
        let name = kind.as_lower_str().to_string();
        if kind == AdapterKind::Ollama {
            let mut this = Self::of(AdapterKind::OpenAI, name, model);
            this.keyless = true;
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
        this.keyless = true;
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
            keyless: false,
            key: None,
            prices: Prices::new(),
            timeouts: http::Timeouts::default(),
            trusted: Vec::new(),
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

    /// Sets the key.
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
        self.key = Some(key.into());
        self
    }

    /// Sets the prices of tokens. They determine the cost in the usage.
    ///
    /// ```
    /// use petalflow_llm::{Price, Prices, ProviderModel};
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
        self.trusted.push(pem.into());
        self.client = OnceLock::new();
        self
    }

    fn client(&self) -> Result<&Client, LlmError> {
        let built = self
            .client
            .get_or_init(|| http::client(&self.timeouts, &self.trusted));
        built.as_ref().map_err(|message| {
            LlmError::request(format!("no HTTP client for `{}`: {message}", self.name))
        })
    }

    /// The endpoint of a request, and the key for it.
    async fn target(
        &self,
        request: &LlmRequest,
    ) -> Result<(ServiceTarget, Option<String>), LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.model);
        let iden = ModelIden::new(self.kind, model);
        let resolved = self.client()?.resolve_service_target(iden).await;
        let mut target = resolved.map_err(|error| self.failures(None).of(error))?;
        if let Some(url) = &self.base_url {
            // The error does not name the address, which may include a key.
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(self.failures(None).no_address());
            }
            target.endpoint = Endpoint::from_owned(url.as_str());
        }
        let variable = match &target.auth {
            AuthData::FromEnv(variable) => Some(variable.clone()),
            _ => None,
        };
        let key = match (&self.key, &variable) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(variable)) if !self.keyless => env::var(variable).ok(),
            _ => None,
        };
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

    fn failures(&self, key: Option<String>) -> Failures {
        Failures::new(self.name.clone(), key)
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
        let (target, key) = self.target(request).await?;
        let failures = self.failures(key);
        let asked = self.whom(request);
        let chat = request::chat(asked, request);
        let options = request::options(asked, request).with_capture_raw_body(true);
        let answer = self.client()?.exec_chat(target, chat, Some(&options));
        // The `genai` library may panic on unexpected data from the server.
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        let answer = answer.map_err(|_| failures.panicked())?;
        let body = match &answer {
            Ok(answer) => answer.captured_raw_body.clone(),
            Err(error) => response::body(error),
        };
        let response = match (body.as_ref().and_then(wire::whole), answer) {
            (Some(Ok(response)), _) => response,
            (Some(Err(error)), _) => return Err(failures.refusal(&error)),
            (None, Ok(answer)) => response::of(answer),
            // The library's error says little about an unknown format.
            (None, Err(_)) if body.is_some() => return Err(failures.empty(body.as_ref())),
            (None, Err(error)) => return Err(failures.of(error)),
        };
        if wire::is_empty(&response) {
            return Err(failures.empty(body.as_ref()));
        }
        response::named(response, &self.name, self.asked(request), &self.prices).checked(request)
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let (target, key) = self.target(request).await?;
        let failures = self.failures(key);
        let whom = self.whom(request);
        let chat = request::chat(whom, request);
        let seen = reading::Seen::default();
        let options = request::options(whom, request)
            .with_capture_usage(true)
            .with_raw_frame_sink_arc(seen.sink());
        let answer = self
            .client()?
            .exec_chat_stream(target, chat, Some(&options))
            .await
            .map_err(|error| failures.of(error))?;
        let asked = self.asked(request).to_string();
        let (name, prices) = (self.name.clone(), self.prices.clone());
        let end = move |response| response::named(response, &name, &asked, &prices);
        let pieces = reading::pieces(self.kind, answer.stream, seen, failures, end);
        let mut pieces = Box::pin(pieces);
        // The request is sent only now: its failure is an error, not a stream.
        let first = match pieces.next().await {
            Some(Err(error)) => return Err(error),
            first => first,
        };
        let pieces = futures_util::stream::iter(first).chain(pieces);
        Ok(LlmStream::new(request, pieces))
    }
}

impl ProviderModel {
    /// The name of the model for a request.
    fn asked<'a>(&'a self, request: &'a LlmRequest) -> &'a str {
        let asked = request.model.as_deref().unwrap_or(&self.model);
        asked.rsplit_once("::").map_or(asked, |(_, model)| model)
    }

    /// The provider and the model of a request, and what they accept.
    fn whom<'a>(&'a self, request: &'a LlmRequest) -> request::Asked<'a> {
        let address = self.base_url.as_deref();
        let refuses = match (self.kind, address) {
            (AdapterKind::Groq, _) | (AdapterKind::OpenAI, None) => true,
            (AdapterKind::OpenAI, Some(address)) => {
                STRICT.iter().any(|host| address.contains(host))
            }
            _ => false,
        };
        request::Asked {
            kind: self.kind,
            model: self.asked(request),
            takes_thoughts: !refuses,
        }
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
