//! Agents and conversations by the protocol AG-UI: a run is a turn, as server-sent events.

mod begin;
mod events;
mod input;
mod thread;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::access;
use crate::builder::ServerBuilder;
use crate::protocol::queued::{Begun, Step};
use crate::protocol::turn::Turn;
use crate::refusal::Refusal;
use crate::request;
use crate::served::{FlowKind, ServedThreads};
use crate::server::Inner;
use begin::Run;
use events::{Events, RunIds};
use input::RunInput;
use thread::Known;

impl ServerBuilder {
    /// Serves all agents and conversations by the protocol AG-UI 1.0, at `POST /ag-ui/{agent}`. A client sends the token of
    /// [`threads`](Self::threads) in its header or as `Authorization: Bearer TOKEN`.
    ///
    /// A run is a turn of a stored thread, whose id the client chooses. The guide `ag-ui` describes what the server does.
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
    ///     Server::builder(&InMemoryStore::new()).agent("librarian", &librarian).threads(auth).ag_ui().build()?;
    /// let app: axum::Router = server.router();
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ag_ui(mut self) -> Self {
        self.protocols.ag_ui = true;
        self
    }
}

/// The addresses.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/ag-ui/{agent}", post(run))
}

/// Begins a run, and sends its events to its end. A run that was begun before is sent again, from its start.
async fn run(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let is_agent = |flow: &&Arc<dyn ServedThreads>| {
        matches!(flow.facts().kind, FlowKind::Agent | FlowKind::Conversation)
    };
    let flow = server.flow(&name).ok().filter(is_agent);
    let flow = flow.ok_or_else(|| Refusal::not_found(format!("there is no agent `{name}`")))?;
    let flow = Arc::clone(flow);
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("too many clients receive events"))?;
    let access = access::of(&request);
    let body = request::whole(request, server.settings.limits.max_input_bytes, &server).await?;
    let input: RunInput = request::parse(&body)?;
    let begun = begin::begin(&server, &flow, &input, &body, access).await?;
    let ids = RunIds {
        thread: input.thread_id.clone(),
        run: input.run_id,
        parent: input.parent_run_id,
    };
    match begun {
        Run::Begun(begun) => run_events(&server, begun, ids, permit).await,
        Run::Shown(known) => Ok(thread_events(&ids, &known)),
    }
}

/// The events of a run. One whose message is queued has begun for its client, and its state follows with its turn.
async fn run_events(
    server: &Arc<Inner>,
    begun: Begun,
    ids: RunIds,
    permit: OwnedSemaphorePermit,
) -> Result<Response, Refusal> {
    let mut events = Events::new(ids);
    let mut first = vec![events.ids.started()];
    match &begun {
        Begun::Turn(turn) => first.push(events.begin(turn.after, state(turn).await?)),
        Begun::Queued(_) => first.push(RunIds::queued()),
    }
    let steps = begun.steps(server).then(with_state);
    let rest = steps.flat_map(move |step| {
        let _permit = &permit;
        stream::iter(match step {
            Ok((Step::Begun(turn), state)) => vec![events.begin(turn.after, state)],
            Ok((Step::Item(item), _)) => events.read(item),
            Ok((Step::Cancelled, _)) => vec![events.ids.cancelled()],
            Err(refusal) => vec![error(&refusal)],
        })
    });
    Ok(sent(stream::iter(first).chain(rest)))
}

/// The step, with the state of the conversation if a turn begins.
async fn with_state(step: Result<Step, Refusal>) -> Result<(Step, Map<String, Value>), Refusal> {
    let step = step?;
    let state = match &step {
        Step::Begun(turn) => state(turn).await?,
        Step::Item(_) | Step::Cancelled => Map::new(),
    };
    Ok((step, state))
}

async fn state(turn: &Turn) -> Result<Map<String, Value>, Refusal> {
    let known = Known::read(&*turn.flow, &turn.thread).await?;
    Ok(known.unwrap_or_default().state)
}

fn error(refusal: &Refusal) -> Value {
    let code = match refusal.status() {
        StatusCode::SERVICE_UNAVAILABLE => "stopped",
        StatusCode::CONFLICT => "refused",
        _ => "store",
    };
    json!({ "type": "RUN_ERROR", "message": refusal.text(), "code": code })
}

/// A run that shows the thread: its messages, its state, and what it waits for.
fn thread_events(ids: &RunIds, known: &Known) -> Response {
    let events = [
        ids.started(),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": known.state }),
        json!({ "type": "MESSAGES_SNAPSHOT", "messages": known.messages }),
        ids.finished(&known.waits, Vec::new()),
    ];
    sent(stream::iter(events))
}

fn sent(events: impl stream::Stream<Item = Value> + Send + 'static) -> Response {
    let events = events.map(|event| Ok::<_, Infallible>(Event::default().data(event.to_string())));
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
