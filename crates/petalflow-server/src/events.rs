//! Sends the events of a thread to clients, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use petalflow::event::LoggedEvent;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::refusal::Refusal;
use crate::server::Inner;

/// The events of a thread. A client that reconnects names the last event that it has received. The stream ends with the run.
///
/// A browser connects again when a stream ends. If no event follows the last one that it names, the response is 204, which tells
/// it not to connect again.
pub(crate) async fn events(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let info = server.owner(&thread)?.threads.info(&thread).await?;
    info.ok_or_else(|| Refusal::not_found("there is no such thread"))?;
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("too many clients receive events"))?;
    let last_seen = headers.get("last-event-id");
    let last_seen = last_seen.and_then(|last_seen| last_seen.to_str().ok()?.parse().ok());
    let mut listener = Listener {
        last_seen: last_seen.unwrap_or(0),
        // Before the log is read, so that no event is missed in between.
        changes: server.subscribe(&thread),
        server,
        thread,
        _permit: permit,
    };
    let mut first = Vec::new();
    if last_seen.is_some() && listener.changes.is_none() {
        match listener.next().await {
            Some(events) => first = events,
            None => return Ok(StatusCode::NO_CONTENT.into_response()),
        }
    }
    let later = stream::unfold(listener, async |mut listener| {
        let events = listener.next().await?;
        Some((stream::iter(events), listener))
    });
    let events = stream::iter(first).chain(later.flatten());
    let events = events.map(|event| Ok::<_, Infallible>(sse_event(&event)));
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

/// A client that receives the events of a thread.
struct Listener {
    server: Arc<Inner>,
    thread: String,
    /// The last event that the client has received.
    last_seen: u64,
    /// Signals that there are more events, while a run of this process is in progress.
    changes: Option<Receiver<()>>,
    _permit: OwnedSemaphorePermit,
}

impl Listener {
    /// The next events. `None` if no run is in progress and the client has all of them.
    async fn next(&mut self) -> Option<Vec<LoggedEvent>> {
        let hook = self.server.owner(&self.thread).ok()?;
        loop {
            // A store that fails ends the stream, and the client reconnects.
            let events = hook.threads.events_since(&self.thread, self.last_seen);
            let events = events.await.ok()?;
            if let Some(last) = events.last() {
                self.last_seen = last.number;
                return Some(events);
            }
            if let Err(RecvError::Closed) = self.changes.as_mut()?.recv().await {
                // The run has ended. Its last events may have been stored since.
                self.changes = None;
            }
        }
    }
}

fn sse_event(event: &LoggedEvent) -> Event {
    let sse = Event::default().event(&event.kind);
    sse.id(event.number.to_string())
        .data(event.value.to_string())
}
