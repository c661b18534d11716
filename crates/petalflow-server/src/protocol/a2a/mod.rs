//! Agents and conversations by the protocol A2A: the cards, the JSON-RPC binding, and the binding to HTTP and JSON.

mod card;
mod content;
mod error;
mod methods;
mod rest;
mod rpc;
mod send;
mod settings;
mod stream;
mod task;
mod task_id;
mod updates;
mod wire;

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use crate::access;
use crate::builder::ServerBuilder;
use crate::refusal::Refusal;
use crate::request;
use crate::served::ServedThreads;
use crate::server::Inner;
use error::{A2aError, ErrorKind};
use methods::Agent;

pub use settings::{A2a, AgentProfile, AgentSkill};

/// The version of the protocol.
const VERSION: &str = "1.0";

/// The header, and the parameter of the query, with the version that a client speaks.
const VERSION_HEADER: &str = "A2A-Version";

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
    let a2a = settings(&server)?;
    let mut flows = server.settings.flows.iter();
    let flow = flows.find(|flow| {
        let is_root = |root: &String| flow.facts().name == *root;
        card::is_served(&***flow) && a2a.root.as_ref().is_none_or(is_root)
    });
    let flow = flow.ok_or_else(|| Refusal::not_found("no agent is served"))?;
    Ok(Json(card::of(&server, a2a, &**flow)))
}

async fn card_of(
    State(server): State<Arc<Inner>>,
    Path(agent): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let flow = flow(&server, &agent)?;
    Ok(Json(card::of(&server, settings(&server)?, &*flow)))
}

fn settings(server: &Inner) -> Result<&A2a, Refusal> {
    let a2a = server.settings.protocols.a2a.as_ref();
    a2a.ok_or_else(|| Refusal::not_found("there is no such address"))
}

/// The served agent with this name.
fn flow(server: &Inner, name: &str) -> Result<Arc<dyn ServedThreads>, Refusal> {
    let flow = server.flow(name).ok().filter(|it| card::is_served(&***it));
    let flow = flow.ok_or_else(|| Refusal::not_found(format!("there is no agent `{name}`")))?;
    Ok(Arc::clone(flow))
}

/// The agent of a request. The client must speak a version of the protocol that the server speaks; one that names none speaks
/// 0.3 (section 3.6.2 of the specification).
fn agent(server: Arc<Inner>, name: &str, request: &Request) -> Result<Agent, A2aError> {
    let header = request.headers().get(VERSION_HEADER);
    let header = header.and_then(|it| it.to_str().ok()).map(String::from);
    let query: Vec<(String, String)> = request::query(request.uri())?;
    let mut query = query.into_iter();
    let query = query.find(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER));
    let version = header.or(query.map(|(_, version)| version));
    let version = version.filter(|it| !it.is_empty());
    let version = version.as_deref().unwrap_or("0.3");
    // Patches do not change the protocol.
    let mut numbers = version.split('.');
    if (numbers.next(), numbers.next()) != (Some("1"), Some("0")) {
        return Err(ErrorKind::VersionNotSupported.with(format!(
            "version {version} of A2A is not supported: send the header `{VERSION_HEADER}: {VERSION}`"
        )));
    }
    let flow =
        flow(&server, name).map_err(|refusal| ErrorKind::MethodNotFound.with(refusal.text()))?;
    Ok(Agent {
        server,
        flow,
        access: access::of(request),
    })
}
