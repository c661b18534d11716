//! One attempt of a request to a provider.

use std::sync::OnceLock;

use futures_util::StreamExt;

use super::catalog::{Family, Quirks, Target};
use super::endpoint::Endpoint;
use super::stream;
use super::transport::{self, Answer, Limits, Transport};
use super::wire;
use crate::usage::Prices;
use crate::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;

/// A client for a model that makes one attempt per request.
pub(super) struct Connection {
    pub(super) name: String,
    pub(super) family: Family,
    pub(super) quirks: Quirks,
    pub(super) capabilities: Capabilities,
    pub(super) model: String,
    pub(super) endpoint: Endpoint,
    pub(super) prices: Prices,
    pub(super) limits: Limits,
    /// Certificates that are trusted in addition to the machine's.
    pub(super) root_certificates: Vec<String>,
    /// Built by the first request. The text is the reason why the build failed.
    pub(super) http: OnceLock<Result<reqwest::Client, String>>,
}

impl Connection {
    /// Sends requests for this model. The key is among the texts that errors do not contain.
    fn transport(&self, key: Option<&str>) -> Result<Transport, LlmError> {
        let build = || transport::client(&self.limits, &self.root_certificates);
        let client = self.http.get_or_init(build).clone();
        Ok(Transport {
            client: client.map_err(|message| {
                LlmError::request(format!("no HTTP client for `{}`: {message}", self.name))
            })?,
            limits: self.limits,
            errors: self.endpoint.errors(&self.name, key),
        })
    }

    /// The vectors of these texts.
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
        let target = self.target(None, false);
        let (path, body) = target.embeddings(texts).ok_or_else(|| {
            LlmError::request(format!("provider `{}` has no embeddings", self.name))
        })?;
        let (key, sent) = self.endpoint.post(&self.name, &target, &path, body)?;
        let transport = self.transport(key.as_deref())?;
        let body = transport.document(sent).await?;
        let problem = || {
            transport.errors.instead(
                Some(&body).filter(|body| wire::is_error(body)),
                &"no vector for each text".into(),
            )
        };
        let vectors = wire::vectors(&body, texts.len());
        vectors.ok_or_else(problem)
    }

    /// What a request is written for.
    fn target<'a>(&'a self, model: Option<&'a str>, streaming: bool) -> Target<'a> {
        let name = model.unwrap_or(&self.model);
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
impl LlmClient for Connection {
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
        let target = self.target(request.model.as_deref(), false);
        let (key, sent) = self.endpoint.request(&self.name, &target, request)?;
        let transport = self.transport(key.as_deref())?;
        let body = transport.document(sent).await?;
        let response = target.parser().read_body(&body);
        let response = response.map_err(|error| transport.errors.instead(error.as_ref(), &body))?;
        Self::completed(&self.name, target.model, &self.prices, response).checked(request)
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let target = self.target(request.model.as_deref(), true);
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
