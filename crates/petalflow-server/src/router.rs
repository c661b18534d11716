//! The routes of a server.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post, put};

use crate::Server;
use crate::access_check;
use crate::host;
#[cfg(feature = "a2a")]
use crate::protocol::a2a;
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "mcp"))]
use crate::protocol::admit::admit;
#[cfg(feature = "ag-ui")]
use crate::protocol::ag_ui;
#[cfg(feature = "mcp")]
use crate::protocol::mcp;
#[cfg(feature = "openai")]
use crate::protocol::openai;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;
use crate::threads::{control, inbox, labels, list, show, start, stop, wait};

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
    /// let server = Server::builder(&InMemoryStore::new()).webhooks("orders", &flow).build()?;
    /// let app: axum::Router = axum::Router::new().nest("/flows", server.router());
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    pub fn router(&self) -> Router {
        let state = Arc::clone(self.inner());
        let routes = state.settings.routes.clone();
        let streams = Router::new()
            .route("/threads/{thread}/events", get(crate::events::events))
            .route("/threads/{thread}/wait", get(wait::wait));
        let limited = |router: Router<Arc<Inner>>| {
            router.layer(from_fn_with_state(Arc::clone(&state), limit_requests))
        };
        let guarded = |router: Router<Arc<Inner>>| {
            router
                .route_layer(from_fn_with_state(Arc::clone(&state), access_check::check))
                .route_layer(from_fn_with_state(Arc::clone(&state), require_token))
        };
        let hooks = Router::new().route(
            "/workflows/{workflow}/webhooks/{trigger}",
            any(crate::delivery::deliver),
        );
        let health = Router::new().route("/health", get(crate::health::health));
        let mut router = limited(hooks).merge(health);
        if state.settings.threads.is_some() {
            router = router
                .merge(limited(guarded(flows())))
                .merge(limited(guarded(threads())))
                .merge(limited(guarded(crate::retention_sweep::http::routes())))
                .merge(guarded(streams));
            #[cfg(feature = "memory")]
            {
                router = router.merge(limited(guarded(crate::memory_http::http::routes())));
            }
            #[cfg(feature = "metrics")]
            {
                let metrics = Router::new().route("/metrics", get(crate::scrape::metrics));
                router = router.merge(limited(guarded(metrics)));
            }
            #[cfg(feature = "schedules")]
            {
                router = router.merge(limited(guarded(crate::scheduler::http::routes())));
            }
        }
        #[cfg(feature = "openai")]
        if state.settings.protocols.openai {
            let admitted = from_fn_with_state(Arc::clone(&state), openai::admit);
            router = router.merge(openai::routes().route_layer(admitted));
        }
        #[cfg(feature = "a2a")]
        if state.settings.protocols.a2a.is_some() {
            let admitted = from_fn_with_state(Arc::clone(&state), admit);
            router = router.merge(a2a::routes().route_layer(admitted));
            router = router.merge(limited(a2a::cards()));
        }
        #[cfg(feature = "ag-ui")]
        if state.settings.protocols.ag_ui {
            let admitted = from_fn_with_state(Arc::clone(&state), admit);
            router = router.merge(ag_ui::routes().route_layer(admitted));
        }
        #[cfg(feature = "mcp")]
        if state.settings.protocols.mcp {
            let admitted = from_fn_with_state(Arc::clone(&state), admit);
            router = router.merge(mcp::routes(&state).route_layer(admitted));
        }
        let router = router
            .fallback(async || Refusal::not_found("there is no such address"))
            .method_not_allowed_fallback(async || Refusal::method());
        #[cfg(feature = "metrics")]
        let router = router.layer(from_fn_with_state(
            Arc::clone(&state),
            crate::measured_requests::measured,
        ));
        let hosts: Arc<[String]> = state.settings.hosts.clone().into();
        let check = move |request: Request, next: Next| {
            let hosts = Arc::clone(&hosts);
            async move { host::check(&hosts, request, next).await }
        };
        router.with_state(state).merge(routes).layer(from_fn(check))
    }
}

/// The addresses of flows.
fn flows() -> Router<Arc<Inner>> {
    Router::new()
        .route("/openapi.json", get(crate::openapi::document))
        .route("/info", get(crate::info::info))
        .route("/flows", get(crate::flows::list))
        .route("/flows/{flow}", get(crate::flows::show))
        .route("/flows/{flow}/graph.svg", get(crate::flows::drawing))
        .route("/flows/{flow}/threads", post(start::start))
}

/// The addresses of threads, without the stream of events.
fn threads() -> Router<Arc<Inner>> {
    let thread = get(show::show).delete(control::delete);
    Router::new()
        .route("/inbox", get(inbox::inbox))
        .route("/threads", get(list::list))
        .route("/thread-counts", get(list::counts))
        .route(
            "/thread-commands",
            post(crate::thread_commands::http::start),
        )
        .route("/threads/{thread}", thread)
        .route("/threads/{thread}/turns", post(start::turn))
        .route("/threads/{thread}/history", get(show::history))
        .route("/threads/{thread}/export", get(show::export))
        .route(
            "/threads/{thread}/checkpoints/{checkpoint}",
            get(show::checkpoint),
        )
        .route(
            "/threads/{thread}/answers/{question}",
            post(crate::answers::answer),
        )
        .route("/threads/{thread}/resume", post(control::resume))
        .route("/threads/{thread}/cancel", post(stop::cancel))
        .route("/threads/{thread}/hold", post(stop::hold))
        .route("/threads/{thread}/drain", post(stop::drain))
        .route("/threads/{thread}/edit", post(control::edit))
        .route("/threads/{thread}/messages", post(control::send))
        .route("/threads/{thread}/fork", post(control::fork))
        .route("/threads/{thread}/copy", post(control::copy))
        .route("/threads/{thread}/labels", put(labels::replace))
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
