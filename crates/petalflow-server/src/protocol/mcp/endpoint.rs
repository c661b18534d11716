//! The address of the protocol: who may use it, and its limits.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// How long a session without messages stays. A person may take this long to answer.
const SESSION_TIME: Duration = Duration::from_hours(1);

/// The server, and the sessions of its clients.
#[derive(Clone)]
struct Endpoint {
    server: Arc<Inner>,
    sessions: Arc<LocalSessionManager>,
}

/// The address.
pub(crate) fn routes(server: &Arc<Inner>) -> Router<Arc<Inner>> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_TIME);
    let endpoint = Endpoint {
        server: Arc::clone(server),
        sessions: Arc::new(sessions),
    };
    // The server compares the hosts of all requests itself.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(server.settings.limits.max_input_bytes);
    let of_handler = Arc::clone(server);
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(Arc::clone(&of_handler))),
        Arc::clone(&endpoint.sessions),
        config,
    );
    Router::new()
        .route_service("/mcp", service)
        .route_layer(from_fn_with_state(endpoint, limited))
}

/// Reads the body within the limits of the server, and ends streams for notifications when the server stops.
async fn limited(State(endpoint): State<Endpoint>, request: Request, next: Next) -> Response {
    let handled = match *request.method() {
        Method::GET => stream(&endpoint, request, next).await,
        Method::POST => message(&endpoint, request, next).await,
        _ => Ok(next.run(request).await),
    };
    handled.unwrap_or_else(IntoResponse::into_response)
}

async fn stream(endpoint: &Endpoint, request: Request, next: Next) -> Result<Response, Refusal> {
    let permit = Arc::clone(&endpoint.server.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("too many clients receive events"))?;
    let stopping = endpoint.server.stopping.clone();
    let response = next.run(request).await;
    Ok(response.map(|body| {
        let messages = body.into_data_stream();
        let messages = messages.take_until(stopping.cancelled_owned());
        Body::from_stream(messages.inspect(move |_| {
            let _permit = &permit;
        }))
    }))
}

async fn message(endpoint: &Endpoint, request: Request, next: Next) -> Result<Response, Refusal> {
    let limits = &endpoint.server.settings.limits;
    if may_begin_session(request.headers()) {
        if endpoint.server.is_stopping() {
            return Err(Refusal::busy("the server stops"));
        }
        if endpoint.sessions.sessions.read().await.len() >= limits.max_streams {
            return Err(Refusal::busy("too many clients have sessions"));
        }
    }
    let (parts, body) = request.into_parts();
    let limit = limits.max_input_bytes;
    let body = request::body(&parts.headers, body, limit, limits.body_time).await?;
    Ok(next.run(Request::from_parts(parts, Body::from(body))).await)
}

/// Whether a request may begin a session. It belongs to none, and has no version yet: later versions have no sessions.
fn may_begin_session(headers: &HeaderMap) -> bool {
    !headers.contains_key("mcp-session-id") && !headers.contains_key("mcp-protocol-version")
}
