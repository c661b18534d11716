//! The routes of a server.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};

use crate::Server;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

impl Server {
    /// The routes, to serve them with a server of your own, or below a path of your own router. Call
    /// [`recover`](Self::recover) at the start and [`drain`](Self::drain) at the end.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow_documents::builder::EnvelopeBuilder;
    /// # use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// # use petalflow_server::Server;
    /// # fn main() -> Result<(), petalflow::BoxError> {
    /// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let server = Server::builder(&InMemoryStore::new()).flow("orders", &flow).build()?;
    /// let app: axum::Router = axum::Router::new().nest("/flows", server.router());
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    pub fn router(&self) -> Router {
        let state = Arc::clone(self.inner());
        let streams = Router::new().route("/threads/{thread}/events", get(crate::events::events));
        let limited = |router: Router<Arc<Inner>>| {
            router.layer(from_fn_with_state(Arc::clone(&state), limit_requests))
        };
        let guarded = |router: Router<Arc<Inner>>| {
            router.route_layer(from_fn_with_state(Arc::clone(&state), require_token))
        };
        let hooks = Router::new().route(
            "/workflows/{workflow}/webhooks/{trigger}",
            any(crate::delivery::deliver),
        );
        let health = Router::new().route("/health", get(crate::health::health));
        let mut router = limited(hooks).merge(health);
        if state.settings.threads.is_some() {
            let threads = Router::new()
                .route("/threads/{thread}", get(crate::status::show))
                .route(
                    "/threads/{thread}/answers/{question}",
                    post(crate::answers::answer),
                );
            router = router
                .merge(limited(guarded(threads)))
                .merge(guarded(streams));
        }
        let router = router.fallback(async || Refusal::not_found("there is no such address"));
        router.with_state(state)
    }
}

/// Refuses a request if too many are in progress.
async fn limit_requests(
    State(server): State<Arc<Inner>>,
    request: Request,
    next: Next,
) -> Response {
    match Arc::clone(&server.requests).try_acquire_owned() {
        Ok(_permit) => next.run(request).await,
        Err(_) => Refusal::busy("too many requests are in progress").into_response(),
    }
}

/// Refuses a request for a thread without the token.
async fn require_token(State(server): State<Arc<Inner>>, request: Request, next: Next) -> Response {
    let settings = &server.settings;
    let checked = request::headers(request.headers(), &settings.limits).and_then(|headers| {
        let auth = settings.threads.as_ref();
        auth.map_or(Ok(()), |auth| Ok(auth.check(&headers)?))
    });
    match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}
