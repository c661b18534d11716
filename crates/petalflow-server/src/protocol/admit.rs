//! The checks before each request of a protocol whose refusals have no form of their own.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth;
use crate::access_check;
use crate::refusal::Refusal;
use crate::server::Inner;

/// Refuses a request without the token, of a caller that may see no thread, or if too many are in progress.
pub(crate) async fn admit(
    State(server): State<Arc<Inner>>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = auth::check(&server, request.headers()) {
        return refusal.into_response();
    }
    let request = match access_check::decide(&server, request) {
        Ok(request) => request,
        Err(refusal) => return refusal.into_response(),
    };
    match Arc::clone(&server.requests).try_acquire_owned() {
        Ok(_permit) => next.run(request).await,
        Err(_) => Refusal::busy("too many requests are in progress").into_response(),
    }
}
