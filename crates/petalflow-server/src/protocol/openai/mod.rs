//! Agents and conversations as models of OpenAI's interface: Chat Completions and Responses.

mod annotations;
mod answers;
mod calls;
mod chat;
mod content;
mod error;
mod function;
mod models;
mod parameters;
mod responses;
mod start;
mod thread_header;
mod usage;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::access_check;
use crate::builder::ServerBuilder;
use crate::protocol::auth;
use crate::server::Inner;
use error::ApiError;

impl ServerBuilder {
    /// Serves all agents and conversations as models of OpenAI's interface, at `/v1/models`, `/v1/chat/completions` and
    /// `/v1/responses`. A client sends the token of [`threads`](Self::threads) as its key: `Authorization: Bearer TOKEN`.
    ///
    /// Each request is a turn of a stored thread. The guide `openai-server` describes what is honoured of a request, and how
    /// questions to people reach the client.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let librarian = Agent::new(ScriptedModel::new(["Hello."])).streaming();
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server =
    ///     Server::builder(&InMemoryStore::new()).agent("librarian", &librarian).threads(auth).openai().build()?;
    /// let app: axum::Router = server.router();
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn openai(mut self) -> Self {
        self.protocols.openai = true;
        self
    }
}

/// The addresses.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    let response = get(responses::retrieve).delete(responses::delete);
    let routes = Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::show))
        .route("/v1/chat/completions", post(chat::create))
        .route("/v1/responses", post(responses::create))
        .route("/v1/responses/{response}", response)
        .route("/v1/responses/{response}/cancel", post(responses::cancel));
    routes.method_not_allowed_fallback(async || ApiError::method())
}

/// Refuses a request without the token, of a caller that may see no thread, or if too many are in progress, in the form of this interface.
pub(crate) async fn admit(
    State(server): State<Arc<Inner>>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = auth::check(&server, request.headers()) {
        return ApiError::from(refusal).into_response();
    }
    let request = match access_check::decide(&server, request) {
        Ok(request) => request,
        Err(refusal) => return ApiError::from(refusal).into_response(),
    };
    match Arc::clone(&server.requests).try_acquire_owned() {
        Ok(_permit) => next.run(request).await,
        Err(_) => ApiError::busy("too many requests are in progress").into_response(),
    }
}
