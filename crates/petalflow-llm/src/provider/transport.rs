//! HTTP: one request, and its answer as JSON or as events, of limited size.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;
use sse_stream::SseByteStream;

use super::error::ErrorConverter;
use crate::LlmError;

/// The maximum size of an error's body. Error messages are shorter.
const MAX_ERROR_BODY: usize = 1024 * 1024;

/// The limits of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The timeout for connecting.
    pub(super) connect: Duration,
    /// The timeout between two reads from the server.
    pub(super) idle: Duration,
    /// The maximum size of a response, in bytes.
    pub(super) size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(10),
            size: 64 * 1024 * 1024,
        }
    }
}

/// A separate client for each model. Connections belong to the runtime that opened them: a shared client would use them
/// in other runtimes, which do not poll them.
pub(super) fn client(limits: &Limits, trusted: &[String]) -> Result<Client, String> {
    Client::builder()
        .connect_timeout(limits.connect)
        .read_timeout(limits.idle)
        // A redirect would send the key and the conversation to another server.
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(crate::tls::client_config(&certificates(trusted)?)?)
        .build()
        .map_err(|error| error.to_string())
}

fn certificates(texts: &[String]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut all = Vec::new();
    for text in texts {
        let before = all.len();
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let certificate = certificate
                .map_err(|error| format!("a certificate to trust cannot be read: {error}"))?;
            all.push(certificate);
        }
        if all.len() == before {
            return Err("there is no certificate in what is to be trusted; give it as PEM".into());
        }
    }
    Ok(all)
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

/// The answer to a request for a stream.
pub(super) enum Answer {
    /// A JSON document, from servers that do not stream this answer.
    Document(Value),
    /// The data of the events.
    Events(Pin<Box<dyn Stream<Item = Result<String, LlmError>> + Send>>),
}

/// Sends requests, and converts failures into errors.
#[derive(Clone)]
pub(super) struct Transport {
    pub(super) client: Client,
    pub(super) limits: Limits,
    pub(super) errors: ErrorConverter,
}

impl Transport {
    /// The answer as JSON, whatever type the server declares.
    pub(super) async fn document(&self, request: HttpRequest) -> Result<Value, LlmError> {
        let response = self.send(request).await?;
        let content_type = content_type(&response);
        let body = self.body(Vec::new(), response).await?;
        self.parse(&body, &content_type)
    }

    /// The answer as events, or as JSON if the server sends that.
    pub(super) async fn events(&self, request: HttpRequest) -> Result<Answer, LlmError> {
        let mut response = self.send(request).await?;
        let content_type = content_type(&response);
        let first = self.chunk(&mut response).await?.unwrap_or_default();
        // Events do not start with any of these characters, and some servers declare a wrong type.
        let start = first.iter().find(|byte| !byte.is_ascii_whitespace());
        let is_document = start.is_some_and(|start| matches!(start, b'{' | b'[' | b'<'));
        if is_document || content_type.contains("html") {
            let body = self.body(first.to_vec(), response).await?;
            return Ok(Answer::Document(self.parse(&body, &content_type)?));
        }
        let (transport, mut received) = (self.clone(), first.len());
        let rest = stream::unfold(response, move |mut response| {
            let transport = transport.clone();
            async move { Some((transport.chunk(&mut response).await.transpose()?, response)) }
        });
        let transport = self.clone();
        let rest = rest.map(move |chunk| {
            let chunk = chunk.map_err(Failure)?;
            received += chunk.len();
            if received > transport.limits.size {
                return Err(Failure(transport.errors.too_large(transport.limits.size)));
            }
            Ok(chunk)
        });
        // The last event of some servers has no empty line after it.
        let chunks = stream::iter([Ok(first)])
            .chain(rest)
            .chain(stream::iter([Ok(Bytes::from_static(b"\n\n"))]));
        let errors = self.errors.clone();
        let events = SseByteStream::new(Box::pin(chunks)).filter_map(move |event| {
            let event = match event {
                Ok(event) => event.data.filter(|data| !data.is_empty()).map(Ok),
                Err(error) => Some(Err(read_failure(error, &errors))),
            };
            async move { event }
        });
        Ok(Answer::Events(Box::pin(events)))
    }

    /// Sends the request. An error status is an error.
    async fn send(&self, request: HttpRequest) -> Result<Response, LlmError> {
        let HttpRequest { url, headers, body } = request;
        let sent = self
            .client
            .post(url)
            .headers(headers)
            .body(body.to_string())
            .send()
            .await;
        let mut response = sent.map_err(|error| self.errors.transport(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let mut body = Vec::new();
        // What has arrived is enough for the error.
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR_BODY {
                break;
            }
        }
        let body = String::from_utf8_lossy(&body);
        Err(self
            .errors
            .status(response.status(), &body, response.headers()))
    }

    /// The rest of the body, after its start.
    async fn body(&self, mut body: Vec<u8>, mut response: Response) -> Result<Vec<u8>, LlmError> {
        while let Some(chunk) = self.chunk(&mut response).await? {
            if body.len() + chunk.len() > self.limits.size {
                return Err(self.errors.too_large(self.limits.size));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, LlmError> {
        let chunk = response.chunk().await;
        chunk.map_err(|error| self.errors.transport(&error))
    }

    fn parse(&self, body: &[u8], content_type: &str) -> Result<Value, LlmError> {
        serde_json::from_slice(body)
            .map_err(|error| self.errors.not_json(&error, content_type, body))
    }
}

/// An error on its way through the parser of events.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(LlmError);

fn read_failure(error: sse_stream::Error, errors: &ErrorConverter) -> LlmError {
    match error {
        sse_stream::Error::Body(error) => match error.downcast::<Failure>() {
            Ok(failure) => failure.0,
            Err(error) => errors.malformed(&format!("its answer cannot be read: {error}")),
        },
        error => errors.malformed(&format!("it sent text that is not UTF-8: {error}")),
    }
}

/// The declared type of the body, without parameters and in lower case.
fn content_type(response: &Response) -> String {
    let declared = response.headers().get(CONTENT_TYPE);
    let declared = declared.and_then(|value| value.to_str().ok());
    let declared = declared.unwrap_or_default().split(';').next();
    declared.unwrap_or_default().trim().to_lowercase()
}
