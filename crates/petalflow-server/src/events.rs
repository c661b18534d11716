//! Sends the events of a thread to clients, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, future, stream};
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::LoggedEvent;

use crate::refusal::Refusal;
use crate::served::no_thread;
use crate::server::Inner;
use crate::thread_event;

/// The events of a thread. A client that reconnects names the last event that it has received. The stream ends with the run.
///
/// A browser connects again when a stream ends. If no event follows the last one that it names, the response is 204, which tells
/// it not to connect again.
pub(crate) async fn events(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let flow = server.reader(&thread).await?;
    let info = server.info(&thread).await?.ok_or_else(no_thread)?;
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("too many clients receive events"))?;
    let last_seen = headers.get("last-event-id");
    let last_seen = last_seen.and_then(|last_seen| last_seen.to_str().ok()?.parse().ok());
    let runs_here = server.is_running(&thread);
    // A store that fails ends the stream, and the client reconnects.
    let mut events = flow
        .follow(&thread, last_seen.unwrap_or(0))
        .scan((), |(), event| future::ready(event.ok()))
        .boxed();
    let mut first = None;
    if last_seen.is_some() && !runs_here && info.status != ThreadStatus::Running {
        first = events.next().await;
        if first.is_none() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let events = stream::iter(first).chain(events);
    let events = if runs_here {
        // A server that stops waits for its runs, and sends their last events.
        events.boxed()
    } else {
        let stopping = server.stopping.clone();
        events.take_until(stopping.cancelled_owned()).boxed()
    };
    let events = events.map(move |event| {
        let _permit = &permit;
        Ok::<_, Infallible>(sse_event(&event))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

fn sse_event(event: &LoggedEvent) -> Event {
    let value = thread_event::served(event);
    let sse = Event::default().event(&event.kind);
    sse.id(event.number.to_string()).data(value.to_string())
}
