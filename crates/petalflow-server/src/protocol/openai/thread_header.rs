//! The header of an answer that names its thread.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

/// The header of a response with the id of its thread.
const THREAD_HEADER: HeaderName = HeaderName::from_static("x-petalflow-thread");

/// The response with the id of its thread.
pub(super) fn with_thread(mut response: Response, thread: &str) -> Response {
    if let Ok(thread) = HeaderValue::from_str(thread) {
        response.headers_mut().insert(THREAD_HEADER, thread);
    }
    response
}
