//! What is done with a response later.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::{stream_permit, streamed, whole};
use super::id::ResponseId;
use super::object::Head;
use super::output::Output;
use crate::access::{self, Access};
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::thread_header::with_thread;
use crate::protocol::turn::{ItemKind, Turn};
use crate::served::ServedThreads;
use crate::server::Inner;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RetrieveQuery {
    stream: bool,
    /// The number of the last event that the client has.
    starting_after: Option<u64>,
}

/// A response as it is now, or its events.
pub(crate) async fn retrieve(
    State(server): State<Arc<Inner>>,
    Path(id): Path<String>,
    Query(query): Query<RetrieveQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let (turn, head) = find(&server, &access::of(&request), &id).await?;
    let response = if query.stream {
        let first = query.starting_after.map_or(0, |last| last + 1);
        streamed(&server, &turn, head, first, stream_permit(&server)?)
    } else {
        Json(now(&turn, &head).await?).into_response()
    };
    Ok(with_thread(response, &turn.thread))
}

/// Cancels the turn of a response. One that has ended stays as it is.
pub(crate) async fn cancel(
    State(server): State<Arc<Inner>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (turn, head) = find(&server, &access::of(&request), &id).await?;
    let extent = turn.extent().await?;
    if extent.is_some_and(|extent| extent.end.is_some()) {
        return Ok(Json(now(&turn, &head).await?));
    }
    if !server.cancel_anywhere(&turn.thread).await? {
        return Err(ApiError::conflict("the response has just ended"));
    }
    Ok(Json(whole(&server, &turn, &head).await?))
}

/// Deletes a response, with the thread of its conversation.
pub(crate) async fn delete(
    State(server): State<Arc<Inner>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (turn, _) = find(&server, &access::of(&request), &id).await?;
    let deleted = async move { turn.delete().await };
    server.run_detached(deleted).await?;
    Ok(Json(
        json!({ "id": id, "object": "response", "deleted": true }),
    ))
}

/// The response as it is now.
async fn now(turn: &Turn, head: &Head) -> Result<Value, ApiError> {
    let mut output = Output::new(ResponseId::of(turn).suffix());
    for item in turn.so_far().await? {
        if let ItemKind::End(end) = &item.kind {
            output.end(&turn.thread, end);
            let head = Head {
                settings: end.turn.client.clone(),
                ..head.clone()
            };
            return Ok(head.at_end(&output, end).1);
        }
        output.add(&item);
    }
    Ok(head.in_progress(output.so_far()))
}

/// The turn of a response, and what is known of the response.
async fn find(server: &Arc<Inner>, access: &Access, id: &str) -> Result<(Turn, Head), ApiError> {
    let unknown = || ApiError::not_found(format!("there is no response `{id}`"));
    let parsed = ResponseId::parse(id).ok_or_else(unknown)?;
    let (turn, flow) = parsed.find(server).await?;
    if server.visible(access, &turn.thread).await.is_err() {
        return Err(unknown());
    }
    let head = head(server, &turn, &*flow, &parsed).await?;
    Ok((turn, head))
}

async fn head(
    server: &Inner,
    turn: &Turn,
    flow: &dyn ServedThreads,
    id: &ResponseId,
) -> Result<Head, ApiError> {
    let info = server
        .info(&turn.thread)
        .await
        .map_err(crate::refusal::Refusal::from)?;
    let extent = turn.extent().await?.unwrap_or_default();
    let previous = turn.previous().await?;
    let view = flow.turn_view(&turn.thread, extent.checkpoint).await?;
    Ok(Head {
        id: id.to_string(),
        model: flow.facts().name.clone(),
        created: turn.began_ms().await? / 1_000,
        settings: view.map(|view| view.turn.client).unwrap_or_default(),
        labels: info.map(|info| info.labels).unwrap_or_default(),
        previous: previous.map(|after| id.sibling(after).to_string()),
        background: None,
        stores: true,
    })
}
