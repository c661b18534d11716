//! The binding to HTTP and JSON.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::Uri;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::agent::agent;
use super::error::{A2aError, ErrorKind};
use super::methods::Agent;
use super::stream::TaskStream;
use super::wire::OfTask;
use crate::request;
use crate::server::Inner;

type Answer = Result<Json<Value>, A2aError>;

pub(super) async fn send(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Answer {
    let (agent, sent) = with_body(server, &name, request).await?;
    agent.send(sent).await.map(Json)
}

pub(super) async fn stream(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, A2aError> {
    let (agent, sent) = with_body(server, &name, request).await?;
    agent.stream(sent).await.map(events)
}

pub(super) async fn list(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Answer {
    let agent = agent(server, &name, &request)?;
    agent.list(query(request.uri())?).await.map(Json)
}

/// A task, or with the suffix `:subscribe` its events.
pub(super) async fn get(
    State(server): State<Arc<Inner>>,
    Path((name, task)): Path<(String, String)>,
    request: Request,
) -> Result<Response, A2aError> {
    let agent = agent(server, &name, &request)?;
    if let Some(task) = task.strip_suffix(":subscribe") {
        return agent.subscribe(of(task)).await.map(events);
    }
    let wanted = OfTask {
        id: task,
        ..query(request.uri())?
    };
    Ok(Json(agent.get(wanted).await?).into_response())
}

/// What is done with a task: its suffix is `:cancel` or `:subscribe`.
pub(super) async fn act(
    State(server): State<Arc<Inner>>,
    Path((name, task)): Path<(String, String)>,
    request: Request,
) -> Result<Response, A2aError> {
    let agent = agent(server, &name, &request)?;
    // What a client may add to the request is not used.
    let limit = agent.server.settings.limits.max_answer_bytes;
    request::whole(request, limit, &agent.server).await?;
    match task.rsplit_once(':') {
        Some((task, "cancel")) => Ok(Json(agent.cancel(of(task)).await?).into_response()),
        Some((task, "subscribe")) => agent.subscribe(of(task)).await.map(events),
        _ => Err(ErrorKind::MethodNotFound.with("the suffix is `:cancel` or `:subscribe`")),
    }
}

pub(super) async fn extended() -> A2aError {
    no_extended_card()
}

pub(super) async fn push() -> A2aError {
    no_push()
}

pub(super) fn no_extended_card() -> A2aError {
    ErrorKind::ExtendedAgentCardNotConfigured
        .with("there is no extended card: the public one has everything")
}

pub(super) fn no_push() -> A2aError {
    ErrorKind::PushNotificationNotSupported
        .with("the server sends no push notifications: subscribe to the task")
}

fn of(task: &str) -> OfTask {
    OfTask {
        id: task.to_string(),
        ..OfTask::default()
    }
}

/// The agent of a request, and its body.
async fn with_body<T: DeserializeOwned>(
    server: Arc<Inner>,
    name: &str,
    request: Request,
) -> Result<(Agent, T), A2aError> {
    let agent = agent(server, name, &request)?;
    let limit = agent.server.settings.limits.max_input_bytes;
    let body = request::whole(request, limit, &agent.server).await?;
    let read = serde_json::from_slice(&body);
    let read = read.map_err(|error| {
        ErrorKind::InvalidParams.with(format!("the body cannot be read: {error}"))
    })?;
    Ok((agent, read))
}

/// The fields of a query, whose numbers and truth values are texts.
fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, A2aError> {
    let fields: Vec<(String, String)> = request::query(uri)?;
    let typed = fields.into_iter().map(|(name, text)| {
        let is_typed = ["historyLength", "pageSize", "includeArtifacts"].contains(&&*name);
        let typed = is_typed
            .then(|| serde_json::from_str(&text.to_lowercase()).ok())
            .flatten();
        (name, typed.unwrap_or(Value::String(text)))
    });
    let fields = Value::Object(typed.collect::<Map<_, _>>());
    serde_json::from_value(fields).map_err(|error| {
        ErrorKind::InvalidParams.with(format!("the query cannot be read: {error}"))
    })
}

/// The stream as server-sent events.
fn events(responses: TaskStream) -> Response {
    let events = responses.map(|response| {
        Ok::<_, Infallible>(match response {
            Ok(response) => Event::default().data(response.to_string()),
            Err(error) => Event::default()
                .event("error")
                .data(error.body().to_string()),
        })
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
