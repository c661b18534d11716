//! What is done with a response later.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use petalflow_agent::ClientSettings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::{stream_permit, streamed, whole};
use super::id::ResponseId;
use super::object::Head;
use super::output::Output;
use crate::access::{self, Access};
use crate::message_queue::QueuedInput;
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::thread_header::with_thread;
use crate::protocol::queued::{Begun, QueueState, QueuedTurn};
use crate::protocol::turn::{ItemKind, Turn};
use crate::protocol::turn_start::TurnStart;
use crate::refusal::Refusal;
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
    let Found { id, begun, head } = find(&server, &access::of(&request), &id).await?;
    let thread = begun.thread().to_string();
    let response = if query.stream {
        let first = query.starting_after.map_or(0, |last| last + 1);
        streamed(&server, begun, &id, head, first, stream_permit(&server)?)
    } else {
        Json(now(&server, &begun, &id, &head).await?).into_response()
    };
    Ok(with_thread(response, &thread))
}

/// Cancels the turn of a response. One that has ended stays as it is.
pub(crate) async fn cancel(
    State(server): State<Arc<Inner>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let access = access::of(&request);
    let mut found = find(&server, &access, &id).await?;
    if let Begun::Queued(queued) = &found.begun {
        if queued.cancel(&server).await? {
            return Ok(Json(found.head.cancelled().1));
        }
        // Its turn has begun, or it was cancelled before.
        found = find(&server, &access, &id).await?;
    }
    let Found { id, begun, head } = found;
    let Begun::Turn(turn) = begun else {
        return Ok(Json(head.cancelled().1));
    };
    let extent = turn.extent().await?;
    if extent.is_some_and(|extent| extent.end.is_some()) {
        let now = now(&server, &Begun::Turn(turn), &id, &head).await?;
        return Ok(Json(now));
    }
    if !server.cancel_anywhere(&turn.thread).await? {
        return Err(ApiError::conflict("the response has just ended"));
    }
    let begun = Begun::Turn(turn);
    Ok(Json(whole(&server, begun, &id, &head).await?))
}

/// Deletes a response, with the thread of its conversation.
pub(crate) async fn delete(
    State(server): State<Arc<Inner>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let found = find(&server, &access::of(&request), &id).await?;
    let deleted = async move { found.begun.delete().await };
    server.run_detached(deleted).await?;
    Ok(Json(
        json!({ "id": id, "object": "response", "deleted": true }),
    ))
}

/// The response as it is now.
async fn now(
    server: &Inner,
    begun: &Begun,
    id: &ResponseId,
    head: &Head,
) -> Result<Value, ApiError> {
    let turn = match begun {
        Begun::Turn(turn) => turn,
        Begun::Queued(queued) => {
            let is_cancelled = matches!(
                queued.state(server).await?,
                Some(QueueState::Cancelled { .. })
            );
            return Ok(if is_cancelled {
                head.cancelled().1
            } else {
                head.queued()
            });
        }
    };
    let mut output = Output::new(id.suffix());
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

/// A response that was found.
struct Found {
    id: ResponseId,
    begun: Begun,
    /// What is known of it.
    head: Head,
}

async fn find(server: &Arc<Inner>, access: &Access, id: &str) -> Result<Found, ApiError> {
    let unknown = || ApiError::not_found(format!("there is no response `{id}`"));
    let id = ResponseId::parse(id).ok_or_else(unknown)?;
    let flow = id.flow(server).await?;
    let thread = id.thread(&*flow);
    if server.visible(access, &thread).await.is_err() {
        return Err(unknown());
    }
    let begun = id.begun(server, &flow).await?.ok_or_else(unknown)?;
    let info = server.info(&thread).await.map_err(Refusal::from)?;
    let labels = info.map(|info| info.labels).unwrap_or_default();
    let known = match &begun {
        Begun::Turn(turn) => of_turn(turn).await?,
        Begun::Queued(queued) => of_queued(server, queued).await?,
    };
    let previous = known.previous.map(|previous| match previous {
        TurnStart::After(after) => id.sibling(TurnStart::known_by(&labels, after)),
        queued @ TurnStart::Queued(_) => id.sibling(queued),
    });
    let head = Head {
        id: id.to_string(),
        model: flow.facts().name.clone(),
        created: known.created_ms / 1_000,
        settings: known.settings,
        labels,
        previous: previous.map(|previous| previous.to_string()),
        background: None,
        stores: true,
    };
    Ok(Found { id, begun, head })
}

/// What the store knows of a response.
#[derive(Default)]
struct Known {
    created_ms: u64,
    settings: ClientSettings,
    /// The response before it.
    previous: Option<TurnStart>,
}

async fn of_turn(turn: &Turn) -> Result<Known, ApiError> {
    let extent = turn.extent().await?.unwrap_or_default();
    let view = turn.flow.turn_view(&turn.thread, extent.checkpoint).await?;
    Ok(Known {
        created_ms: turn.began_ms().await?,
        settings: view.map(|view| view.turn.client).unwrap_or_default(),
        previous: turn.previous().await?.map(TurnStart::After),
    })
}

/// Before a response that is queued, there is another one in the queue, or the newest turn.
async fn of_queued(server: &Inner, queued: &QueuedTurn) -> Result<Known, ApiError> {
    let newest = Turn::newest(&queued.flow, &queued.thread).await?;
    let mut known = Known {
        previous: Some(TurnStart::After(newest.after)),
        ..Known::default()
    };
    let queue = &server.settings.queue;
    let waiting = queue.waiting(&queued.thread).await;
    for waiting in waiting.map_err(Refusal::from)? {
        if waiting.cancelled_ms.is_some() {
            continue;
        }
        if waiting.mark() != queued.mark {
            known.previous = Some(TurnStart::Queued(waiting.mark().to_string()));
            continue;
        }
        known.created_ms = waiting.stored_ms;
        let stored = queued.read(server, &waiting).await?;
        if let Some(QueuedInput::Turn { client, .. }) = stored.map(|stored| stored.input) {
            known.settings = *client;
        }
        break;
    }
    Ok(known)
}
