//! Agents and conversations by the protocol A2A: the cards, the JSON-RPC binding, and the binding to HTTP and JSON.

mod agent;
mod cancelled;
mod card;
mod content;
mod error;
mod methods;
mod queued_task;
mod rest;
mod rpc;
mod send;
mod shown_task;
mod stream;
mod task;
mod task_id;
mod updates;
mod wire;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use crate::a2a::A2a;
use crate::builder::ServerBuilder;
use crate::refusal::Refusal;
use crate::server::Inner;

impl ServerBuilder {
    /// Serves all agents and conversations by the protocol A2A 1.0, at `/a2a/{agent}`, with their cards at
    /// `/a2a/{agent}/.well-known/agent-card.json`. A client sends the token of [`threads`](Self::threads) in its header or as
    /// `Authorization: Bearer TOKEN`. The cards need no token.
    ///
    /// A context is a stored thread, and a task is a turn of it. The guide `a2a` describes what the server does.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::{A2a, Server};
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let librarian = Agent::new(ScriptedModel::new(["Hello."])).streaming();
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server = Server::builder(&InMemoryStore::new())
    ///     .agent("librarian", &librarian)
    ///     .threads(auth)
    ///     .a2a(A2a::new("https://agents.example.com"))
    ///     .build()?;
    /// let app: axum::Router = server.router();
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn a2a(mut self, a2a: A2a) -> Self {
        self.protocols.a2a = Some(a2a);
        self
    }
}

/// The addresses of agents.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new()
        .route("/a2a/{agent}", post(rpc::call))
        .route("/a2a/{agent}/message:send", post(rest::send))
        .route("/a2a/{agent}/message:stream", post(rest::stream))
        .route("/a2a/{agent}/tasks", get(rest::list))
        .route("/a2a/{agent}/tasks/{task}", get(rest::get).post(rest::act))
        .route("/a2a/{agent}/extendedAgentCard", get(rest::extended))
        .route(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
            get(rest::push).post(rest::push),
        )
        .route(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{config}",
            get(rest::push).delete(rest::push),
        )
}

/// The addresses of cards.
pub(crate) fn cards() -> Router<Arc<Inner>> {
    Router::new()
        .route("/.well-known/agent-card.json", get(root_card))
        .route("/a2a/{agent}/.well-known/agent-card.json", get(card_of))
}

/// The card of the agent at the root of the host.
async fn root_card(State(server): State<Arc<Inner>>) -> Result<Json<Value>, Refusal> {
    let a2a = agent::settings(&server)?;
    let mut flows = server.settings.flows.iter();
    let flow = flows.find(|flow| {
        let is_root = |root: &String| flow.facts().name == *root;
        agent::is_served(&***flow) && a2a.root.as_ref().is_none_or(is_root)
    });
    let flow = flow.ok_or_else(|| Refusal::not_found("no agent is served"))?;
    Ok(Json(card::of(&server, a2a, &**flow)))
}

async fn card_of(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let flow = agent::flow(&server, &name)?;
    Ok(Json(card::of(&server, agent::settings(&server)?, &*flow)))
}
