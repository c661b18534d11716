//! The numbers of requests.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use crate::server::Inner;

/// Counts a request, and measures the time until its response begins. Ids are not in the labels.
pub(crate) async fn measured(
    State(server): State<Arc<Inner>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>();
    let route = path.map_or("none", MatchedPath::as_str).to_string();
    let method = method(request.method()).to_string();
    let begun = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    server
        .metrics
        .request(method, route, status, begun.elapsed());
    response
}

/// The method. Clients may invent others without an end.
fn method(method: &Method) -> &str {
    match *method {
        Method::GET | Method::POST | Method::PUT | Method::DELETE | Method::PATCH => {
            method.as_str()
        }
        Method::HEAD | Method::OPTIONS => method.as_str(),
        _ => "other",
    }
}
