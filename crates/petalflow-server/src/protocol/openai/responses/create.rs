//! `POST /v1/responses`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::begin;
use super::events::Events;
use super::forget::Forget;
use super::id::ResponseId;
use super::object::Head;
use super::output::Output;
use super::request::ResponseRequest;
use crate::access;
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::models;
use crate::protocol::openai::thread_header::with_thread;
use crate::protocol::turn::{ItemKind, Turn};
use crate::request as body;
use crate::server::Inner;
use crate::threads::start::Starter;

/// Begins the turn of a request, and answers with the response: whole, as events, or at once.
pub(crate) async fn create(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (access, headers) = (access::of(&request), request.headers().clone());
    let bytes = body::whole(request, server.settings.limits.max_input_bytes, &server).await?;
    let request: ResponseRequest = body::parse(&bytes)?;
    let starter = Starter::of(&server, access, &headers, &bytes)?;
    let flow = Arc::clone(models::find(&server, &request.model)?);
    let (model, stores) = (request.model.clone(), request.stores());
    let (is_background, streams) = (request.is_background(), request.streams());
    let previous = request.previous_response_id.clone();
    // The permission comes first: without it, nothing is begun.
    let permit = if streams {
        Some(stream_permit(&server)?)
    } else {
        None
    };
    let read = request.read(&starter.access)?;
    let settings = read.settings.clone();
    // As they are stored: the response is the same when it is retrieved.
    let labels = starter.access.with_required(read.labels.clone())?;
    let turn = begin::begin(&server, &flow, previous.as_deref(), read, starter).await?;
    let head = Head {
        id: ResponseId::of(&turn).to_string(),
        model,
        created: now(),
        settings,
        labels,
        previous,
        background: Some(is_background),
        stores,
    };
    let forget = (!stores).then(|| Forget::new(&server, &turn));
    let response = if let Some(permit) = permit {
        streamed(&server, &turn, head, 0, (permit, forget))
    } else if is_background {
        Json(head.in_progress(Vec::new())).into_response()
    } else {
        Json(whole(&server, &turn, &head).await?).into_response()
    };
    Ok(with_thread(response, &turn.thread))
}

/// The permission to receive events.
pub(super) fn stream_permit(
    server: &Arc<Inner>,
) -> Result<tokio::sync::OwnedSemaphorePermit, ApiError> {
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    permit.map_err(|_| ApiError::busy("too many clients receive events"))
}

/// The response at the end of its turn.
pub(super) async fn whole(
    server: &Arc<Inner>,
    turn: &Turn,
    head: &Head,
) -> Result<Value, ApiError> {
    let mut output = Output::new(ResponseId::of(turn).suffix());
    let mut items = turn.items(server);
    while let Some(item) = items.next().await {
        let item = item?;
        if let ItemKind::End(end) = &item.kind {
            output.end(&turn.thread, end);
            return Ok(head.at_end(&output, end).1);
        }
        output.add(&item);
    }
    Err(ApiError::busy("the turn has no end yet"))
}

/// The events with numbers from `first` on. They hold what they keep until the client has them.
pub(super) fn streamed(
    server: &Arc<Inner>,
    turn: &Turn,
    head: Head,
    first: u64,
    kept: impl Send + 'static,
) -> Response {
    let output = Output::new(ResponseId::of(turn).suffix());
    let mut events = Events::new(head, output, turn.thread.clone());
    let begin = events.begin();
    let items = turn.items(server).flat_map(move |item| {
        let _kept = &kept;
        stream::iter(match item {
            Ok(item) => events.of(&item),
            Err(refusal) => events.error(&ApiError::from(refusal)),
        })
    });
    let events = stream::iter(begin).chain(items);
    let events = events.filter(move |(number, _)| std::future::ready(*number >= first));
    let events = events.map(|(_, event)| {
        let kind = event["type"].as_str().unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event(kind).data(event.to_string()))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    events.into_response()
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
