//! One attempt of a request to a provider.

use std::sync::{Arc, OnceLock};

use futures_util::StreamExt;
use reqwest::Response;
use serde_json::{Map, Value};

use super::catalog::{Family, Platform, Quirks, Target};
use super::endpoint::Endpoint;
use super::models;
use super::pairs;
use super::plan::Plan;
use super::publisher::Publisher;
use super::stream;
use super::transport::{self, Answer, Limits, Transport};
use super::wire::{self, Schemas};
use crate::stream::{Delta, StreamEvent, StreamSource};
use crate::usage::{Price, Prices, TokenCount};
use crate::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;

/// A client for a model that makes one attempt per request.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) name: String,
    /// The provider of the table, under a name that is the same for all of its formats. `None`: only the name is known.
    pub(super) provider: Option<&'static str>,
    pub(super) family: Family,
    pub(super) platform: Platform,
    pub(super) quirks: Quirks,
    /// Those of the user, by the start of the model's name. Others are in the table.
    pub(super) capabilities: Vec<(String, Capabilities)>,
    pub(super) model: String,
    pub(super) endpoint: Endpoint,
    pub(super) prices: Prices,
    pub(super) limits: Limits,
    /// Certificates that are trusted in addition to the machine's.
    pub(super) root_certificates: Vec<String>,
    /// That of the user.
    pub(super) own_http: Option<reqwest::Client>,
    /// Built by the first request. The text is the reason why the build failed.
    pub(super) http: OnceLock<Result<reqwest::Client, String>>,
}

/// What the response says about a request with half of a pair.
const UNPAIRED: &str = "there are calls without results, or results without calls";

/// A request that is ready to be sent, and how its response is read.
struct Prepared {
    body: Value,
    /// What the response says about the request.
    notes: Map<String, Value>,
    /// The tool whose arguments are the answer.
    answer_tool: Option<String>,
}

impl Connection {
    /// Sends a request, and once more if the server refuses its token and there is a new one. What gave access is among the
    /// texts that errors do not contain.
    async fn send(
        &self,
        target: &Target<'_>,
        path: &str,
        body: &Value,
    ) -> Result<(Transport, Response), LlmError> {
        let request = self.endpoint.request(&self.name, target, path, body)?;
        let client = self.http_client()?;
        let mut may_renew = true;
        loop {
            let authorized = self
                .endpoint
                .authorized(&self.name, target, request.clone());
            let (access, request) = authorized.await?;
            let transport = Transport {
                client: client.clone(),
                limits: self.limits,
                errors: self.endpoint.errors(&self.name, Some(&access)),
            };
            match transport.send(request).await {
                Ok(response) => return Ok((transport, response)),
                Err(refused)
                    if refused.is_unauthorized && may_renew && self.endpoint.renews(&access) =>
                {
                    may_renew = false;
                }
                Err(refused) => return Err(refused.error),
            }
        }
    }

    pub(super) fn http_client(&self) -> Result<reqwest::Client, LlmError> {
        if let Some(own) = &self.own_http {
            return Ok(own.clone());
        }
        let build = || transport::client(&self.limits, &self.root_certificates);
        let client = self.http.get_or_init(build).clone();
        client.map_err(|message| {
            LlmError::request(format!("no HTTP client for `{}`: {message}", self.name))
        })
    }

    /// The parts of these texts that are requested together.
    pub(super) fn embedding_batches<'t>(&self, texts: &'t [String]) -> Vec<&'t [String]> {
        self.target(None, false).embedding_batches(texts)
    }

    /// The vectors of these texts, in one request.
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
        let target = self.target(None, false);
        let able = Some(()).filter(|()| target.capabilities.embeddings);
        let request = able.and_then(|()| target.embeddings(texts));
        let (path, body) = request.ok_or_else(|| {
            LlmError::request(format!("provider `{}` has no embeddings", self.name))
        })?;
        let (transport, response) = self.send(&target, &path, &body).await?;
        let body = transport.document(response).await?;
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
    pub(super) fn target<'a>(&'a self, model: Option<&'a str>, streaming: bool) -> Target<'a> {
        let name = model.unwrap_or(&self.model);
        let model = name.rsplit_once("::").map_or(name, |(_, model)| model);
        let own = Target {
            provider: self.provider.unwrap_or(&self.name),
            family: self.family,
            platform: self.platform,
            model,
            quirks: self.quirks,
            capabilities: self.capabilities_of(self.provider, self.family, model),
            json_mode: false,
            streaming,
        };
        if self.platform != Platform::Vertex {
            return own;
        }
        let publisher = Publisher::of(model);
        Target {
            provider: publisher.provider,
            family: publisher.family,
            // Those of the client may be the user's.
            quirks: if publisher.family == self.family {
                self.quirks
            } else {
                publisher.quirks
            },
            capabilities: self.capabilities_of(Some(publisher.provider), publisher.family, model),
            ..own
        }
    }

    fn capabilities_of(&self, provider: Option<&str>, family: Family, model: &str) -> Capabilities {
        let own = self.capabilities.iter();
        let own = own.filter(|(start, _)| model.starts_with(start.as_str()));
        let own = own.max_by_key(|(start, _)| start.len());
        let known = || models::of(provider, model);
        let mut able = own.map_or_else(known, |(_, own)| *own);
        able.tool_search &= family.has_tool_search();
        able
    }

    /// The schemas of a request that are sent without `strict`, and why.
    pub(super) fn not_strict(&self, request: &LlmRequest) -> Map<String, Value> {
        let target = self.target(request.model.as_deref(), false);
        let plan = Plan::of(&target, request);
        Schemas::of(&target, &plan.request).not_strict(&plan.request)
    }

    /// The request that this target is sent, and what the response says about it: the schemas that are not enforced, what
    /// of other providers is left out, and what the model does not take.
    fn prepared(target: &Target<'_>, request: &LlmRequest) -> Result<Prepared, LlmError> {
        target.check(request)?;
        let Plan {
            mut request,
            answer_tool,
            json_mode,
            mut not_sent,
        } = Plan::of(target, request);
        if let Some(messages) = pairs::paired(target, &request) {
            request.to_mut().messages = Arc::new(messages);
            not_sent.insert("messages".to_string(), UNPAIRED.into());
        }
        let mut capabilities = target.capabilities;
        capabilities.parallel_calls &= request.parallel_calls != Some(false);
        let target = Target {
            capabilities,
            json_mode,
            ..*target
        };
        let schemas = Schemas::of(&target, &request);
        let notes = [
            ("not_strict", schemas.not_strict(&request)),
            ("left_out", target.left_out(&request)),
            ("not_sent", not_sent),
        ];
        let notes = notes.into_iter().filter(|(_, note)| !note.is_empty());
        let notes = notes.map(|(name, note)| (name.to_string(), note.into()));
        Ok(Prepared {
            notes: notes.collect(),
            body: target.body(&request, schemas)?,
            answer_tool,
        })
    }

    /// Sets the provider, the model, the cost, and the notes about the request.
    pub(super) fn completed(
        name: &str,
        model: &str,
        prices: &Prices,
        notes: &Map<String, Value>,
        mut response: LlmResponse,
    ) -> LlmResponse {
        response.provider = name.to_string();
        if response.model.is_empty() {
            response.model = model.to_string();
        }
        response.meta.extend(notes.clone());
        // What a gateway charges is known to it only.
        if response.usage.cost == 0.0 {
            let price = prices.get(&response.model).or_else(|| prices.get(model));
            response.usage.cost = price.map_or(0.0, |price| price.cost(&response.usage));
        }
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
        self.target(None, false).capabilities
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.prices.get(model)
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        self.answer(request).await?.checked(request)
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        let target = self.target(request.model.as_deref(), false);
        let prepared = Self::prepared(&target, request)?;
        let Some((path, body)) = target.count_request(prepared.body) else {
            return Ok(TokenCount::estimate(request));
        };
        let (transport, response) = match self.send(&target, &path, &body).await {
            Ok(sent) => sent,
            // A compatible server without such requests.
            Err(error) if is_missing(&error) => return Ok(TokenCount::estimate(request)),
            Err(error) => return Err(error),
        };
        let body = transport.document(response).await?;
        let error = Some(&body).filter(|body| wire::is_error(body));
        let count = wire::count(&body).map(TokenCount::exact);
        count.ok_or_else(|| transport.errors.instead(error, &body))
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let target = self.target(request.model.as_deref(), true);
        if !target.capabilities.streaming_with_tools && request.has_tools() {
            return Ok(LlmStream::from_response(self.complete(request).await?));
        }
        Ok(LlmStream::new(request, self.events(request).await?))
    }
}

impl Connection {
    /// The whole answer, as it arrived.
    async fn answer(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let target = self.target(request.model.as_deref(), false);
        let Prepared {
            body,
            notes,
            answer_tool,
        } = Self::prepared(&target, request)?;
        let parser = target.parser(&body, answer_tool.as_deref());
        let body = target.at_platform(body);
        let (transport, response) = self.send(&target, &target.path(), &body).await?;
        let body = transport.document(response).await?;
        let response = parser.read_body(&body);
        let response = response.map_err(|error| transport.errors.instead(error.as_ref(), &body))?;
        let (name, prices) = (&self.name, &self.prices);
        Ok(Self::completed(
            name,
            target.model,
            prices,
            &notes,
            response,
        ))
    }

    /// The events of the answer.
    async fn events(&self, request: &LlmRequest) -> Result<StreamSource, LlmError> {
        let target = self.target(request.model.as_deref(), true);
        let Prepared {
            body,
            notes,
            answer_tool,
        } = Self::prepared(&target, request)?;
        let parser = target.parser(&body, answer_tool.as_deref());
        let body = target.at_platform(body);
        let (transport, response) = self.send(&target, &target.path(), &body).await?;
        let errors = transport.errors.clone();
        let (name, model) = (self.name.clone(), target.model.to_string());
        let prices = self.prices.clone();
        let end = move |response| Self::completed(&name, &model, &prices, &notes, response);
        let answer = match target.family {
            #[cfg(feature = "bedrock")]
            Family::Converse => transport.aws_events(response),
            _ => transport.events(response).await?,
        };
        let events = match answer {
            Answer::Events(events) => events,
            Answer::Document(body) => {
                let response = parser.read_body(&body);
                let response = response.map_err(|error| errors.instead(error.as_ref(), &body))?;
                return Ok(whole(end(response)));
            }
        };
        let mut events = Box::pin(stream::content(events, parser, errors, end));
        // A failure before the first content is an error, not a stream: it can be retried.
        let first = match events.next().await {
            Some(Err(error)) => return Err(error),
            first => first,
        };
        Ok(Box::pin(futures_util::stream::iter(first).chain(events)))
    }
}

/// The events of an answer that arrived whole.
fn whole(mut response: LlmResponse) -> StreamSource {
    let message = response.message.take();
    let deltas = message
        .as_ref()
        .map(Delta::from_message)
        .unwrap_or_default();
    let deltas = deltas.into_iter().map(StreamEvent::Delta);
    let events = deltas.chain([StreamEvent::End(Box::new(response))]);
    Box::pin(futures_util::stream::iter(events.map(Ok)))
}

/// Whether the server does not know the path of a request.
fn is_missing(error: &LlmError) -> bool {
    let LlmErrorKind::Provider { status, .. } = error.kind else {
        return false;
    };
    matches!(status, Some(404 | 405 | 501))
}
