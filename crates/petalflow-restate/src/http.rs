//! Requests to the Restate server.

use std::time::Duration;

use crate::error::RestateError;

/// Sends a request, and returns the body of the answer.
pub(crate) async fn post(
    http: &reqwest::Client,
    url: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Result<Vec<u8>, RestateError> {
    let unreachable = |source| RestateError::Unreachable {
        url: url.to_string(),
        source,
    };
    let request = http
        .post(url)
        .header("content-type", content_type)
        .header("accept", content_type);
    // Restate refuses a type of content without content.
    let request = if body.is_empty() {
        http.post(url)
    } else {
        request.body(body)
    };
    let response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    let body = response.bytes().await.map_err(unreachable)?;
    if status.is_success() {
        return Ok(body.to_vec());
    }
    Err(RestateError::Refused {
        url: url.to_string(),
        status: status.as_u16(),
        message: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// A client that waits as long as a thread runs.
pub(crate) fn client() -> reqwest::Client {
    let builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(10));
    builder.build().unwrap_or_default()
}

/// A part of a path.
pub(crate) fn encoded(part: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    part.bytes().map(encode).collect()
}
