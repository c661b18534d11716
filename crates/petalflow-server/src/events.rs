//! Sends the events of a thread to clients, as server-sent events.

#[cfg(feature = "agent")]
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
#[cfg(feature = "agent")]
use futures_util::stream::{BoxStream, Stream};
use futures_util::{StreamExt, future, stream};
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::LoggedEvent;
use serde_json::Value;
#[cfg(feature = "agent")]
use serde_json::json;

#[cfg(feature = "agent")]
use crate::partial_outputs::OutputReader;
use crate::refusal::Refusal;
use crate::served::no_thread;
use crate::server::Inner;
use crate::thread_event;
#[cfg(feature = "agent")]
use crate::thread_event::ThreadEvent;

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
    #[cfg(feature = "agent")]
    let events = with_outputs(events, server.partial_outputs(&thread));
    #[cfg(not(feature = "agent"))]
    let events = events.map(|event| sse_event(&event));
    let events = events.map(move |event| {
        let _permit = &permit;
        Ok::<_, Infallible>(event)
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

/// The events of a log, with the typed answers that models write meanwhile. Those have no numbers: a client that connects again
/// gets the newest ones.
#[cfg(feature = "agent")]
fn with_outputs(
    log: BoxStream<'static, LoggedEvent>,
    outputs: Option<OutputReader>,
) -> impl Stream<Item = Event> {
    /// How many attempts are remembered that have ended.
    const REMEMBERED: usize = 64;
    let waiting: VecDeque<Event> = VecDeque::new();
    let ended: VecDeque<Attempt> = VecDeque::new();
    let state = (log, outputs, waiting, ended);
    stream::unfold(
        state,
        async |(mut log, mut outputs, mut waiting, mut ended)| {
            loop {
                if let Some(event) = waiting.pop_front() {
                    return Some((event, (log, outputs, waiting, ended)));
                }
                tokio::select! {
                    event = log.next() => {
                        let event = event?;
                        let value = thread_event::served(&event);
                        if ["node_finished", "node_failed", "retry"].contains(&&*event.kind) {
                            ended.extend(attempt_of(&value));
                            ended.drain(..ended.len().saturating_sub(REMEMBERED));
                        }
                        waiting.push_back(numbered(&event, &value));
                    }
                    new = next_of(&mut outputs) => {
                        let new = new.iter().map(|output| json!(**output));
                        // The log may be read before the run says that the task has ended.
                        let new = new.filter(|value| attempt_of(value).is_none_or(|it| !ended.contains(&it)));
                        waiting.extend(new.map(|value| Event::default().event("partial_output").data(value.to_string())));
                    }
                }
            }
        },
    )
}

/// An attempt of a task: its sub-flow, its id, and its number.
#[cfg(feature = "agent")]
type Attempt = (String, String, u64);

#[cfg(feature = "agent")]
fn attempt_of(event: &Value) -> Option<Attempt> {
    let task = &event["task"];
    let namespace = event["namespace"].as_str()?;
    let (id, attempt) = (task["id"].as_str()?, task["attempt"].as_u64()?);
    Some((namespace.into(), id.into(), attempt))
}

/// The next partial answers. Never completes if there are no more.
#[cfg(feature = "agent")]
async fn next_of(outputs: &mut Option<OutputReader>) -> Vec<Arc<ThreadEvent>> {
    if let Some(reader) = outputs {
        match reader.next().await {
            Some(new) => return new,
            None => *outputs = None,
        }
    }
    future::pending().await
}

#[cfg(not(feature = "agent"))]
fn sse_event(event: &LoggedEvent) -> Event {
    numbered(event, &thread_event::served(event))
}

fn numbered(event: &LoggedEvent, value: &Value) -> Event {
    let sse = Event::default().event(&event.kind);
    sse.id(event.number.to_string()).data(value.to_string())
}
