//! What failed, in words. The errors of `rmcp` name its types, and repeat messages of the server.

use std::error::Error;
use std::io;

use rmcp::service::{ClientInitializeError, ServerInitializeError, ServiceError};
#[cfg(feature = "http")]
use rmcp::transport::streamable_http_client::StreamableHttpError;

#[cfg(feature = "http")]
use super::http_error::{HttpError, is_too_long};
use petalflow::error::message_with_sources;

/// The problem of a connection that ended because a message was longer than allowed.
pub(super) const TOO_LONG: &str = "a message is longer than `message_limit`";

/// The problem of a connection that ended.
pub(super) const CLOSED: &str = "the server closed the connection";

/// Describes why a client could not initialize a connection.
pub(super) fn of_initialize(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            format!("{CLOSED} before it answered `initialize`")
        }
        ClientInitializeError::TransportError { error, .. } => of_transport(&*error.error),
        ClientInitializeError::JsonRpcError(error) => {
            format!("the server refused `initialize`: {}", error.message)
        }
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions = server_supported.iter().map(ToString::to_string);
            let versions = versions.collect::<Vec<_>>().join(", ");
            format!("the server supports only the MCP versions {versions}")
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_initialize(fallback),
        ClientInitializeError::Cancelled => "the connection was closed".into(),
        // These contain the whole answer, or the ids of messages.
        _ => "the server sent an invalid answer to `initialize`".into(),
    }
}

/// The error of HTTP for which a connection was not initialized.
#[cfg(feature = "oauth")]
pub(super) fn http_of_initialize(error: &ClientInitializeError) -> Option<&HttpError> {
    match error {
        ClientInitializeError::TransportError { error, .. } => error.error.downcast_ref(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            http_of_initialize(fallback)
        }
        _ => None,
    }
}

/// The error of HTTP for which a request failed.
#[cfg(feature = "oauth")]
pub(super) fn http_of_request(error: &ServiceError) -> Option<&HttpError> {
    match error {
        ServiceError::TransportSend(error) => error.error.downcast_ref(),
        _ => None,
    }
}

/// Describes why a request of a client failed.
pub(super) fn of_request(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => of_transport(&*error.error),
        ServiceError::TransportClosed => CLOSED.into(),
        ServiceError::Cancelled { .. } => "the request was cancelled".into(),
        error => message_with_sources(error),
    }
}

/// Describes why a server could not initialize a connection.
pub(super) fn of_accept(error: &ServerInitializeError) -> String {
    match error {
        ServerInitializeError::ConnectionClosed(_) => {
            "the client closed the connection before it was initialized".into()
        }
        ServerInitializeError::InitializeFailed(error) => {
            format!("the connection could not be initialized: {}", error.message)
        }
        ServerInitializeError::TransportError { error, .. } => {
            format!(
                "the client cannot be reached: {}",
                message_with_sources(&*error.error)
            )
        }
        ServerInitializeError::Cancelled => "the connection was closed".into(),
        // These contain the whole message.
        _ => "the client did not begin with `initialize`".into(),
    }
}

fn of_transport(error: &(dyn Error + 'static)) -> String {
    #[cfg(feature = "http")]
    if let Some(error) = error.downcast_ref() {
        return of_http(error);
    }
    let kind = error.downcast_ref().map(io::Error::kind);
    if let Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) = kind {
        return CLOSED.into();
    }
    message_with_sources(error)
}

#[cfg(feature = "http")]
fn of_http(error: &HttpError) -> String {
    match error {
        StreamableHttpError::Client(error) => of_http_client(error),
        StreamableHttpError::HttpStatus(error) => {
            format!("the server answered with HTTP status {}", error.status)
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP ") => {
            format!("the server answered with {text}")
        }
        StreamableHttpError::UnexpectedServerResponse(_) => {
            "the server answered with something that is not a message of MCP".into()
        }
        StreamableHttpError::Sse(error) if is_too_long(error) => TOO_LONG.into(),
        StreamableHttpError::Sse(_) => "the stream of the answer ended early".into(),
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("an answer is longer than {max_size} bytes")
        }
        StreamableHttpError::UnexpectedContentType(Some(found)) => {
            format!(
                "the server answered with `{found}`, which is neither JSON nor a stream of events"
            )
        }
        StreamableHttpError::UnexpectedContentType(None) => {
            "the server answered without a content type".into()
        }
        StreamableHttpError::AuthRequired(_) => {
            "the server requires authentication (HTTP status 401); pass the right header to \
             `McpClient::http`, or sign in with `McpClient::oauth` (feature `oauth`)"
                .into()
        }
        StreamableHttpError::InsufficientScope(_) => {
            "the credential is not allowed to do this (HTTP status 403)".into()
        }
        #[cfg(feature = "oauth")]
        StreamableHttpError::Auth(error) => super::oauth::of_auth(error),
        StreamableHttpError::SessionExpired => "the session has expired".into(),
        StreamableHttpError::ReinitializationFailed(error) => {
            format!(
                "the session has expired, and the server refused another: {}",
                error.message
            )
        }
        StreamableHttpError::ReservedHeaderConflict(name) => {
            format!("header `{name}` is set by the protocol; do not pass it to `McpClient::http`")
        }
        StreamableHttpError::SessionRecoveryTimeout
        | StreamableHttpError::ControlRequestTimeout => "the server did not answer in time".into(),
        StreamableHttpError::UnexpectedEndOfStream
        | StreamableHttpError::TransportChannelClosed => CLOSED.into(),
        error => message_with_sources(error),
    }
}

#[cfg(feature = "http")]
fn of_http_client(error: &reqwest::Error) -> String {
    if error.is_builder() {
        return "its address is not a URL; write it in full, such as `http://localhost:8000/mcp`"
            .into();
    }
    let what = if error.is_timeout() {
        "the server did not answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection was lost"
    };
    // The errors between say which parts of the HTTP client failed.
    let mut cause = error.source();
    while let Some(next) = cause.and_then(Error::source) {
        cause = Some(next);
    }
    cause.map_or_else(|| what.into(), |cause| format!("{what}: {cause}"))
}
