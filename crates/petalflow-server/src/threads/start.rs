//! Starts threads, and their further turns.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::labels;
use crate::Notice;
use crate::refusal::Refusal;
use crate::request;
use crate::served::{Input, InputValue, Labels, ServedThreads};
use crate::server::{Inner, prefix};
use crate::start_lock::{StartLock, digest};

/// The largest number of bytes of the part of an id that a client chooses.
const MAX_ID: usize = 128;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    id: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    labels: Labels,
}

/// What starts a thread.
pub(crate) struct Start {
    /// The id of the thread, after the name of the flow. `None`: the server chooses one.
    pub(crate) id: Option<String>,
    pub(crate) input: InputValue,
    pub(crate) labels: Labels,
    /// Labels of the server, whose names are reserved.
    pub(crate) own_labels: Labels,
}

/// Starts a thread of a flow, and answers when its input is stored.
pub(crate) async fn start(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let flow = Arc::clone(server.flow(&flow)?);
    let key = request::identifier(request.headers(), &server.settings.key_header)?;
    let body = request::whole(request, server.settings.limits.max_input_bytes, &server).await?;
    let start: StartBody = request::parse(&body)?;
    if let Some(id) = &start.id {
        check_id(id)?;
        if key.is_some() {
            let text =
                "a request with an identifier has no `id`: the identifier chooses the thread";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
        }
    }
    let checksum = digest(&body);
    let start = Start {
        id: start.id,
        input: start.input.into(),
        labels: start.labels,
        own_labels: Labels::new(),
    };
    let begun = begin(Arc::clone(&server), flow, start, key, checksum);
    let thread = server.run_detached(begun).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))))
}

/// Begins a thread, and returns its id. A repeated request with an identifier gets the thread of the first one.
pub(crate) async fn begin(
    server: Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    start: Start,
    key: Option<String>,
    checksum: String,
) -> Result<String, Refusal> {
    let own = start.id.unwrap_or_else(|| match &key {
        Some(key) => digest(key),
        None => format!("{:032x}", fastrand::u128(..)),
    });
    let thread = format!("{}{own}", prefix(flow.facts()));
    let _lock = StartLock::take(&server, &thread).await?;
    if flow.view(&thread, None).await?.is_some() {
        return repeated(&server, thread, key.is_some(), &checksum).await;
    }
    let mut labels = labels::with_reserved(start.labels, &Labels::new())?;
    labels.extend(start.own_labels);
    if key.is_some() {
        labels.insert(labels::REQUEST.to_string(), checksum);
    }
    let input = Input {
        value: start.input,
        labels,
        discards: false,
    };
    let store = async |token| {
        let run = flow.begin(&thread, input, &token).await?;
        server.notify(Notice::Accepted { thread: &thread });
        Ok(run)
    };
    server.begin(thread.clone(), store).await?;
    Ok(thread)
}

/// The thread of the first request with an identifier. A thread whose id a client has chosen is not started twice.
async fn repeated(
    server: &Inner,
    thread: String,
    has_key: bool,
    checksum: &str,
) -> Result<String, Refusal> {
    if !has_key {
        return Err(Refusal::new(
            StatusCode::CONFLICT,
            format!("there is a thread `{thread}` already: a further input is another turn of it"),
        ));
    }
    let info = server.info(&thread).await?;
    let first = info
        .as_ref()
        .and_then(|info| info.labels.get(labels::REQUEST));
    if first.is_some_and(|first| first != checksum) {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("a request with this identifier had another body: it started `{thread}`"),
        ));
    }
    Ok(thread)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    input: Value,
    /// Whether the input discards open questions.
    #[serde(default)]
    discard_pending: bool,
}

/// Begins another turn of a thread.
pub(crate) async fn turn(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let flow = server.owner(&thread).await?;
    let limit = server.settings.limits.max_input_bytes;
    let turn: Turn = request::json(request, limit, &server).await?;
    let input = Input {
        value: turn.input.into(),
        labels: Labels::new(),
        discards: turn.discard_pending,
    };
    let id = thread.clone();
    let begin = async move |token| flow.begin(&id, input, &token).await;
    server.begin_detached(thread, begin).await
}

/// The part of an id that a client chooses.
pub(crate) fn check_id(id: &str) -> Result<(), Refusal> {
    let is_readable = |c: char| !c.is_control() && c != '/';
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(is_readable) {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "`{}` cannot be an id: use 1 to {MAX_ID} bytes, without `/` and control characters",
                id.escape_debug()
            ),
        ));
    }
    Ok(())
}
