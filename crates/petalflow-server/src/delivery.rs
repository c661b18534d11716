//! Webhook deliveries: from a request to a trigger to a stored run.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use petalflow::checkpoint::ThreadStatus;
use petalflow_documents::Envelope;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::Notice;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;
use crate::start_lock::{StartLock, digest};

/// The variable of the envelope that has the request.
const REQUEST_VARIABLE: &str = "__webhook_request";

/// Starts a run, and answers when its input is stored.
pub(crate) async fn deliver(
    State(server): State<Arc<Inner>>,
    Path((workflow, trigger)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let limits = server.settings.limits;
    let index = server.hook(&workflow, &trigger);
    let index = index.ok_or_else(|| Refusal::not_found("there is no such trigger"))?;
    let hook = &server.settings.hooks[index];
    let mut request = request::head(&parts, &limits)?;
    // Before the body is read: a client without a token cannot make the server read a body.
    hook.node.authorize(&request)?;
    let largest = hook.node.config().max_body_bytes;
    request.body = request::body(&parts.headers, body, largest, limits.body_time).await?;
    (request.workflow_id, request.trigger_id) = (workflow, trigger);
    let key = request::identifier(&parts.headers, &server.settings.key_header)?;
    let input = hook.node.admit(&request)?;

    let begin = begin(Arc::clone(&server), index, key, input);
    let thread = server.run_detached(begin).await?;
    let wait = preferred_wait(&parts.headers).min(limits.max_wait);
    if wait.is_zero() {
        return Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))).into_response());
    }
    wait_for_end(&server, index, &thread, wait).await
}

/// Begins a thread, and returns its id. A repeated delivery gets the thread of the first one.
async fn begin(
    server: Arc<Inner>,
    index: usize,
    key: Option<String>,
    input: Envelope,
) -> Result<String, Refusal> {
    let hook = &server.settings.hooks[index];
    let Some(key) = key else {
        let thread = format!("{}{:032x}", hook.prefix(), fastrand::u128(..));
        store(&server, index, &thread, input).await?;
        return Ok(thread);
    };
    let thread = format!("{}{}", hook.prefix(), digest(&key));
    let _lock = StartLock::take(&server, &thread).await?;
    let Some(first) = hook.threads.envelope(&thread).await? else {
        store(&server, index, &thread, input).await?;
        return Ok(thread);
    };
    // A node may have removed the variable.
    if let Some(first) = first.get_var(REQUEST_VARIABLE)
        && first.get("body")
            != input
                .get_var(REQUEST_VARIABLE)
                .and_then(|it| it.get("body"))
    {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("a delivery with this identifier had another body: it started `{thread}`"),
        ));
    }
    Ok(thread)
}

/// Stores the input of a thread, and runs it.
async fn store(
    server: &Arc<Inner>,
    index: usize,
    thread: &str,
    input: Envelope,
) -> Result<(), Refusal> {
    let threads = &server.settings.hooks[index].threads;
    let begin = async |token| {
        let run = threads.begin_with(thread, input, &token).await?;
        server.notify(Notice::Accepted { thread });
        Ok(run)
    };
    server.begin(thread.to_owned(), begin).await
}

/// The seconds of `Prefer: wait=SECONDS` (RFC 7240). Zero without that header.
fn preferred_wait(headers: &HeaderMap) -> Duration {
    let values = headers.get_all("prefer").iter();
    let preferences = values.filter_map(|value| value.to_str().ok());
    let mut preferences = preferences.flat_map(|value| value.split([',', ';']));
    let seconds = preferences.find_map(|it| it.trim().strip_prefix("wait=")?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

/// The response when the run has ended, or after this time.
async fn wait_for_end(
    server: &Inner,
    index: usize,
    thread: &str,
    wait: Duration,
) -> Result<Response, Refusal> {
    let threads = &server.settings.hooks[index].threads;
    // Only a run of this process can be waited for.
    if let Some(mut run) = server.subscribe(thread) {
        let ended = async { while !matches!(run.recv().await, Err(RecvError::Closed)) {} };
        // After the time, the client gets the status that the thread has then.
        let _ = tokio::time::timeout(wait, ended).await;
    }
    let info = server.info(thread).await?;
    let status = info.map_or(ThreadStatus::Running, |info| info.status);
    let mut body = json!({ "thread": thread, "status": status.as_str() });
    let code = match status {
        ThreadStatus::Finished => {
            if let Some(mut view) = threads.view(thread, None).await? {
                body["state"] = view["state"].take();
            }
            StatusCode::OK
        }
        // A caller that may deliver need not be allowed to see the reason. The status of the thread has it.
        ThreadStatus::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::ACCEPTED,
    };
    Ok((code, Json(body)).into_response())
}
