//! HTTP: one request, and its answer as JSON or as events, of limited size.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;
use sse_stream::SseByteStream;

use super::error::ErrorConverter;
use super::json_memory;
use crate::LlmError;

/// The maximum size of an error's body. Error messages are shorter.
const MAX_ERROR_BODY: usize = 1024 * 1024;

/// The maximum time for an error's body. Without the body, the error still has its status.
const MAX_ERROR_TIME: Duration = Duration::from_secs(10);

/// What some servers write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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

/// A request. Clones share the body.
#[derive(Clone, Debug)]
pub(super) struct HttpRequest {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: LlmError,
    /// Whether the server refused what should give access.
    pub(super) is_unauthorized: bool,
}

impl From<LlmError> for Refused {
    fn from(error: LlmError) -> Self {
        Refused {
            error,
            is_unauthorized: false,
        }
    }
}

/// The answer to a request for a stream.
pub(super) enum Answer {
    /// A JSON document, from servers that do not stream this answer.
    Document(Value),
    /// The events.
    Events(Events),
}

/// The events of an answer.
pub(super) struct Events {
    /// The first bytes of the answer as text, for the error if they are not an event.
    pub(super) start: String,
    pub(super) events: Pin<Box<dyn Stream<Item = Result<Event, LlmError>> + Send>>,
}

/// An event with data.
pub(super) struct Event {
    /// Whether its name says that it is an error.
    pub(super) is_error: bool,
    pub(super) data: String,
}

/// Sends requests, and converts failures into errors.
#[derive(Clone)]
pub(super) struct Transport {
    pub(super) client: Client,
    pub(super) limits: Limits,
    pub(super) errors: ErrorConverter,
}

impl Transport {
    /// The answer as JSON. The content type that the server declares is ignored.
    pub(super) async fn document(&self, response: Response) -> Result<Value, LlmError> {
        let content_type = content_type(&response);
        let body = self.body(Vec::new(), response).await?;
        self.parse(&body, &content_type)
    }

    /// The answer as events, or as JSON if the server sends that.
    pub(super) async fn events(&self, mut response: Response) -> Result<Answer, LlmError> {
        let content_type = content_type(&response);
        let first = self.start(&mut response).await?;
        // Events do not start with any of these characters, and some servers declare a wrong type.
        let is_document = matches!(first.first(), Some(b'{' | b'[' | b'<'));
        if is_document || content_type.contains("html") {
            let body = self.body(first, response).await?;
            return Ok(Answer::Document(self.parse(&body, &content_type)?));
        }
        let start = self.errors.shown(&first);
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
        let chunks = stream::iter([Ok(Bytes::from(first))])
            .chain(rest)
            .chain(stream::iter([Ok(Bytes::from_static(b"\n\n"))]));
        let errors = self.errors.clone();
        let events = SseByteStream::new(Box::pin(chunks)).filter_map(move |event| {
            let event = match event {
                Ok(event) => event.data.filter(|data| !data.is_empty()).map(|data| {
                    let is_error = event.event.as_deref() == Some("error");
                    Ok(Event { is_error, data })
                }),
                Err(error) => Some(Err(read_failure(error, &errors))),
            };
            async move { event }
        });
        let events = Box::pin(events);
        Ok(Answer::Events(Events { start, events }))
    }

    /// The answer as events in the format of AWS.
    #[cfg(feature = "bedrock")]
    pub(super) fn aws_events(&self, response: Response) -> Answer {
        let state = (self.clone(), response, 0_usize);
        let chunks = stream::unfold(Some(state), |state| async {
            let (transport, mut response, mut received) = state?;
            let chunk = match transport.chunk(&mut response).await.transpose()? {
                Ok(chunk) => chunk,
                Err(error) => return Some((Err(error), None)),
            };
            received += chunk.len();
            if received > transport.limits.size {
                let error = transport.errors.too_large(transport.limits.size);
                return Some((Err(error), None));
            }
            Some((Ok(chunk), Some((transport, response, received))))
        });
        let errors = self.errors.clone();
        let events =
            super::aws_events::events(Box::pin(chunks), move |problem| errors.malformed(problem));
        let events = events.map(|event| {
            let super::aws_events::AwsEvent { is_error, data } = event?;
            Ok(Event { is_error, data })
        });
        Answer::Events(Events {
            start: String::new(),
            events: Box::pin(events),
        })
    }

    /// Sends the request. An error status is an error.
    pub(super) async fn send(&self, request: HttpRequest) -> Result<Response, Refused> {
        let HttpRequest { url, headers, body } = request;
        let sent = self
            .client
            .post(url)
            .headers(headers)
            .body(body)
            .send()
            .await;
        let response = sent.map_err(|error| self.errors.transport(&error))?;
        let encoding = response.headers().get(CONTENT_ENCODING);
        let encoding = encoding.filter(|encoding| !encoding.is_empty() && *encoding != "identity");
        let compressed = encoding.map(|encoding| {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            format!("its answer is compressed with `{encoding}`, which the request did not ask for")
        });
        if response.status().is_success() {
            return match compressed {
                Some(problem) => Err(self.errors.malformed(&problem).into()),
                None => Ok(response),
            };
        }
        Err(self.refused(response, compressed).await)
    }

    /// Why a response with this status is not the answer. The body is not read if the problem is known.
    pub(super) async fn refused(&self, mut response: Response, problem: Option<String>) -> Refused {
        let instead = problem.or_else(|| redirection(&response));
        let message = match instead {
            Some(message) => message,
            None => error_body(&mut response).await,
        };
        let status = response.status();
        Refused {
            error: self.errors.status(status, &message, response.headers()),
            // AWS answers 403 if temporary credentials have expired.
            is_unauthorized: status == StatusCode::UNAUTHORIZED
                || (status == StatusCode::FORBIDDEN && message.contains("expired")),
        }
    }

    /// The start of the body, without white space and a byte order mark before it. Empty only if the body is.
    async fn start(&self, response: &mut Response) -> Result<Vec<u8>, LlmError> {
        let (mut start, mut received) = (Vec::new(), 0);
        while let Some(chunk) = self.chunk(response).await? {
            received += chunk.len();
            if received > self.limits.size {
                return Err(self.errors.too_large(self.limits.size));
            }
            start.extend_from_slice(&chunk);
            // The mark may be in two chunks.
            if start.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&start) {
                continue;
            }
            start = without_mark(&start).trim_ascii_start().to_vec();
            if !start.is_empty() {
                break;
            }
        }
        Ok(start)
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
        if json_memory::is_too_much(body) {
            return Err(self.errors.too_much_memory());
        }
        serde_json::from_slice(without_mark(body))
            .map_err(|error| self.errors.not_json(&error, content_type, body))
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Where a response redirects to. Only the host is shown: the rest of an address may be secret.
fn redirection(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let target = response.url().join(location).ok()?;
    let host = target
        .host_str()
        .filter(|_| response.status().is_redirection())?;
    Some(format!(
        "it redirects to `{host}`; the key is not sent there, so give the right address with `with_base_url`"
    ))
}

/// What has arrived of the body of an error, within limits of size and time.
async fn error_body(response: &mut Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR_BODY {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(MAX_ERROR_TIME, read).await;
    String::from_utf8_lossy(without_mark(&body)).into_owned()
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
