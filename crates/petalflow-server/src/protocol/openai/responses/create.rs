//! `POST /v1/responses`.

use std::convert::Infallible;
use std::sync::Arc;

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
use crate::protocol::clock::now_ms;
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::models;
use crate::protocol::openai::thread_header::with_thread;
use crate::protocol::queued::{Begun, Step};
use crate::protocol::turn::ItemKind;
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
    let begun = begin::begin(&server, &flow, previous.as_deref(), read, starter);
    let begun = Box::pin(begun).await?;
    let (id, thread) = (ResponseId::of(&begun), begun.thread().to_string());
    let head = Head {
        id: id.to_string(),
        model,
        created: now_ms() / 1_000,
        settings,
        labels,
        previous,
        background: Some(is_background),
        stores,
    };
    let forget = (!stores).then(|| Forget::new(&server, &begun));
    let response = if let Some(permit) = permit {
        streamed(&server, begun, &id, head, 0, (permit, forget))
    } else if is_background {
        Json(match begun {
            Begun::Turn(_) => head.in_progress(Vec::new()),
            Begun::Queued(_) => head.queued(),
        })
        .into_response()
    } else {
        Json(whole(&server, begun, &id, &head).await?).into_response()
    };
    Ok(with_thread(response, &thread))
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
    begun: Begun,
    id: &ResponseId,
    head: &Head,
) -> Result<Value, ApiError> {
    let thread = begun.thread().to_string();
    let mut output = Output::new(id.suffix());
    let mut steps = begun.steps(server);
    while let Some(step) = steps.next().await {
        let item = match step? {
            Step::Begun(_) => continue,
            Step::Item(item) => item,
            Step::Cancelled => return Ok(head.cancelled().1),
        };
        if let ItemKind::End(end) = &item.kind {
            output.end(&thread, end);
            return Ok(head.at_end(&output, end).1);
        }
        output.add(&item);
    }
    Err(ApiError::busy("the turn has no end yet"))
}

/// The events with numbers from `first` on. They hold what they keep until the client has them.
pub(super) fn streamed(
    server: &Arc<Inner>,
    begun: Begun,
    id: &ResponseId,
    head: Head,
    first: u64,
    kept: impl Send + 'static,
) -> Response {
    let (was_queued, has_begun) = (id.was_queued(), matches!(begun, Begun::Turn(_)));
    let output = Output::new(id.suffix());
    let mut events = Events::new(head, output, begun.thread().to_string());
    let mut begin = events.begin(was_queued);
    if was_queued && has_begun {
        begin.extend(events.begin_turn());
    }
    let steps = begun.steps(server).flat_map(move |step| {
        let _kept = &kept;
        stream::iter(match step {
            Ok(Step::Begun(_)) => events.begin_turn(),
            Ok(Step::Item(item)) => events.of(&item),
            Ok(Step::Cancelled) => events.cancelled(),
            Err(refusal) => events.error(&ApiError::from(refusal)),
        })
    });
    let events = stream::iter(begin).chain(steps);
    let events = events.filter(move |(number, _)| std::future::ready(*number >= first));
    let events = events.map(|(_, event)| {
        let kind = event["type"].as_str().unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event(kind).data(event.to_string()))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    events.into_response()
}
