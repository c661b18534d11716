//! Requests of untrusted clients, read within limits.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, OriginalUri, Query};
use axum::http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Request, StatusCode, Uri, Version, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use petalflow_documents::kinds::WebhookRequest;
use serde::de::DeserializeOwned;

use crate::Limits;
use crate::refusal::Refusal;
use crate::server::Inner;

/// The request without its body.
pub(crate) fn head(parts: &Parts, limits: &Limits) -> Result<WebhookRequest, Refusal> {
    let headers = headers(&parts.headers, limits)?;
    // A nested router sees only the rest of the path, so the original one is used.
    let original = parts.extensions.get::<OriginalUri>();
    let uri = original.map_or(&parts.uri, |OriginalUri(uri)| uri);
    let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let query = query.map_err(|error| {
        let text = format!("the query cannot be read: {error}");
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })?;
    let mut by_name = BTreeMap::new();
    for (name, value) in query.0 {
        append_value(by_name.entry(name).or_default(), &value);
    }
    let client = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    Ok(WebhookRequest {
        method: parts.method.to_string(),
        path: uri.path().to_owned(),
        headers,
        query: by_name,
        remote_addr: client.map_or_else(String::new, |ConnectInfo(address)| address.to_string()),
        ..WebhookRequest::default()
    })
}

/// The headers by name. Values of the same name are joined.
pub(crate) fn headers(
    headers: &HeaderMap,
    limits: &Limits,
) -> Result<BTreeMap<String, String>, Refusal> {
    let bytes = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        name.as_str().len() + value.len()
    };
    let size: usize = headers.iter().map(bytes).sum();
    if headers.len() > limits.max_headers || size > limits.max_header_bytes {
        return Err(Refusal::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            format!(
                "the request has more than {} headers or {} bytes of headers",
                limits.max_headers, limits.max_header_bytes
            ),
        ));
    }
    framing(headers)?;
    let mut by_name = BTreeMap::<String, String>::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        append_value(by_name.entry(name.to_string()).or_default(), &value);
    }
    Ok(by_name)
}

/// Refuses headers that a proxy before this server may understand in another way, so that the two would not see the same
/// request (RFC 9112, section 6.1).
fn framing(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        let text = "the only transfer encoding is `chunked`";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, text.to_owned()));
    }
    Ok(())
}

/// Refuses a request with more than one `Host` header (RFC 9112, section 3.2).
pub(crate) fn one_host(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.get_all(HOST).iter().nth(1).is_some() {
        let text = "the request has more than one `Host` header";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
    }
    Ok(())
}

/// Refuses a request of HTTP/1.1 without a `Host` header (RFC 9112, section 3.2).
pub(crate) fn has_host<B>(request: &Request<B>) -> Result<(), Refusal> {
    if request.version() == Version::HTTP_11 && !request.headers().contains_key(HOST) {
        let text = "the request has no `Host` header";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
    }
    Ok(())
}

fn append_value(values: &mut String, value: &str) {
    if !values.is_empty() {
        values.push_str(", ");
    }
    values.push_str(value);
}

/// The identifier of a request, for which only one thread is started. An empty one is refused: all senders with an empty header
/// would share a thread.
pub(crate) fn identifier(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refusal> {
    let mut identifiers = headers.get_all(name).iter();
    let Some(identifier) = identifiers.next() else {
        return Ok(None);
    };
    if identifiers.next().is_some() {
        let text = format!("the request has more than one header `{name}`: send one identifier");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
    }
    let identifier = String::from_utf8_lossy(identifier.as_bytes());
    if identifier.trim().is_empty() {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            format!(
                "the header `{name}` is empty: send an identifier of the request, or no header"
            ),
        ));
    }
    Ok(Some(identifier.into_owned()))
}

/// The query of an address.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Refusal> {
    let query = Query::<T>::try_from_uri(uri);
    query.map(|Query(query)| query).map_err(|error| {
        let text = format!("the query cannot be read: {}", error.body_text());
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })
}

/// The largest number of items in one response, and the number without `limit`.
const MAX_PAGE: usize = 1_000;
const PAGE: usize = 100;

/// The number of items in one response, for a query with this `limit`.
pub(crate) fn page_size(limit: Option<usize>) -> usize {
    limit.unwrap_or(PAGE).clamp(1, MAX_PAGE)
}

/// The JSON of a request, whose body has at most `limit` bytes.
pub(crate) async fn json<T: DeserializeOwned>(
    request: axum::extract::Request,
    limit: usize,
    server: &Inner,
) -> Result<T, Refusal> {
    parse(&whole(request, limit, server).await?)
}

/// The JSON of a body. An empty body is an empty object.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let body = if body.trim_ascii().is_empty() {
        b"{}"
    } else {
        body
    };
    serde_json::from_slice(body).map_err(|error| {
        let text = format!("the body cannot be read: {error}");
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })
}

/// The body of a request, of at most `limit` bytes.
pub(crate) async fn whole(
    request: axum::extract::Request,
    limit: usize,
    server: &Inner,
) -> Result<Vec<u8>, Refusal> {
    let (parts, content) = request.into_parts();
    body(
        &parts.headers,
        content,
        limit,
        server.settings.limits.body_time,
    )
    .await
}

/// Reads a body of at most `limit` bytes within `time`.
pub(crate) async fn body(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    time: Duration,
) -> Result<Vec<u8>, Refusal> {
    let too_large = || body_too_large(limit);
    // A body whose announced length is too large is not read at all.
    let announced = headers.get(CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |it| it > limit)) {
        return Err(too_large());
    }
    let read = tokio::time::timeout(time, Limited::new(body, limit).collect()).await;
    match read {
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {time:?}"),
        )),
        Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => {
            let text = format!("the body cannot be read: {error}");
            Err(Refusal::new(StatusCode::BAD_REQUEST, text))
        }
    }
}

fn body_too_large(limit: usize) -> Refusal {
    petalflow_documents::kinds::Refusal::TooLarge { limit }.into()
}
