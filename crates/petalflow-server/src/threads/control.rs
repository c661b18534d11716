//! What a person does with a thread: resume, edit, fork, copy, delete.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use petalflow::checkpoint::Cause;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::access;
use crate::keyed_request::{Keyed, Of};
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;
use crate::wait;

/// A response of one of these addresses.
type Response = Result<(StatusCode, Json<Value>), Refusal>;

/// Continues a thread that has failed, was stopped, or is held.
pub(crate) async fn resume(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<axum::response::Response, Refusal> {
    let flow = server.owner(&thread).await?;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let of = Of::Run {
        thread: thread.clone(),
    };
    let keyed = Keyed::of(&server, &access, &headers, ("resume", b""), of)?;
    let (id, of_run) = (thread.clone(), Arc::clone(&flow));
    let resume = async move |token| of_run.resume(&id, &token).await;
    server.begin_once(keyed, &thread, resume).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    keys: Map<String, Value>,
    /// The node whose result the edit is.
    node: Option<String>,
}

/// Writes keys of the state.
pub(crate) async fn edit(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Response {
    let flow = server.owner(&thread).await?;
    let limit = server.settings.limits.max_input_bytes;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, limit, &server).await?;
    let Edit { keys, node } = request::parse(&body)?;
    let of = Of::Checkpoint {
        thread: thread.clone(),
        cause: Cause::Update,
    };
    let keyed = Keyed::of(&server, &access, &headers, ("edit", &body), of)?;
    let edited = async move {
        let checkpoint = flow.edit(&thread, keys, node).await?;
        Ok(json!({ "checkpoint": checkpoint }))
    };
    Ok((StatusCode::OK, Json(server.once(keyed, edited).await?)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    key: String,
    value: Value,
    /// A message with the same id is not stored again.
    id: Option<String>,
}

/// Sends a message to a thread, whether or not a run has it.
pub(crate) async fn send(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Response {
    let flow = server.owner(&thread).await?;
    let limit = server.settings.limits.max_input_bytes;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, limit, &server).await?;
    let Message { key, value, id } = request::parse(&body)?;
    server.must_exist(&thread).await?;
    let of = Of::Repeatable {
        about: thread.clone(),
    };
    let keyed = Keyed::of(&server, &access, &headers, ("message", &body), of)?;
    // The thread knows which messages it has.
    let id = id.or_else(|| Some(keyed.as_ref()?.key().to_string()));
    let sent = async move {
        let number = flow.send(&thread, key, value, id).await?;
        Ok(json!({ "message": number }))
    };
    Ok((StatusCode::ACCEPTED, Json(server.once(keyed, sent).await?)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fork {
    checkpoint: u64,
    /// The id of another thread, after the name of the flow. `None`: the same thread.
    id: Option<String>,
}

/// Continues from an earlier checkpoint, in the same thread or in another one.
pub(crate) async fn fork(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Response {
    let flow = server.owner(&thread).await?;
    let limit = server.settings.limits.max_answer_bytes;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, limit, &server).await?;
    let Fork { checkpoint, id } = request::parse(&body)?;
    server.must_exist(&thread).await?;
    let (of, other) = if let Some(id) = id {
        let other = server.own_thread(&access, flow.facts(), &id).await?;
        (Of::copy(&thread, &other), Some(other))
    } else {
        let (thread, cause) = (thread.clone(), Cause::Fork);
        (Of::Checkpoint { thread, cause }, None)
    };
    let keyed = Keyed::of(&server, &access, &headers, ("fork", &body), of)?;
    let forked = async move {
        let Some(other) = other else {
            let checkpoint = flow.fork(&thread, checkpoint).await?;
            return Ok(json!({ "thread": thread, "checkpoint": checkpoint }));
        };
        flow.fork_to(&thread, checkpoint, &other).await?;
        Ok(json!({ "thread": other }))
    };
    let forked = server.once(keyed, forked).await?;
    Ok((StatusCode::CREATED, Json(forked)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyTo {
    id: String,
}

/// Copies a thread with its history.
pub(crate) async fn copy(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Response {
    let flow = server.owner(&thread).await?;
    let limit = server.settings.limits.max_answer_bytes;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, limit, &server).await?;
    let CopyTo { id } = request::parse(&body)?;
    let other = server.own_thread(&access, flow.facts(), &id).await?;
    let of = Of::copy(&thread, &other);
    let keyed = Keyed::of(&server, &access, &headers, ("copy", &body), of)?;
    let copied = async move {
        flow.copy(&thread, &other).await?;
        Ok(json!({ "thread": other }))
    };
    let copied = server.once(keyed, copied).await?;
    Ok((StatusCode::CREATED, Json(copied)))
}

/// Deletes a thread and its history.
pub(crate) async fn delete(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
) -> Result<StatusCode, Refusal> {
    let flow = server.owner(&thread).await?;
    server.must_exist(&thread).await?;
    let deleted = async move { Ok(flow.delete(&thread).await?) };
    server.run_detached(deleted).await?;
    Ok(StatusCode::NO_CONTENT)
}
