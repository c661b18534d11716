//! The errors of requests over HTTP.

use std::borrow::Cow;

use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;

/// Whether this is the error for an event that is too long. `rmcp` does not export its type.
pub(super) fn is_too_long(error: &SseError) -> bool {
    matches!(error, SseError::Body(error) if error.to_string().contains("exceeded the maximum size"))
}

/// The error without the URL, and without parts of an answer that may repeat it.
pub(super) fn without_url(error: HttpError) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        // `HTTP 404 Not Found: ..` with the body of the response, which may repeat the URL.
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP ") => {
            let status = text.split(": ").next().unwrap_or_default().to_string();
            StreamableHttpError::UnexpectedServerResponse(Cow::Owned(status))
        }
        // It may quote the body as well.
        StreamableHttpError::UnexpectedServerResponse(_) => {
            StreamableHttpError::UnexpectedServerResponse("no message of MCP".into())
        }
        error => error,
    }
}
