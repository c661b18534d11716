//! Webhook deliveries: from a request to a trigger to a stored run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use petalflow::checkpoint::{Claim, Store, ThreadStatus};
use petalflow_documents::{Envelope, WireEnvelope};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::broadcast::error::RecvError;

use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// How long a delivery waits for another one with the same identifier that has not been stored yet.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

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
    let key = delivery_key(&request.headers, &server.settings.key_header)?;
    let input = hook.node.admit(&request)?;

    let begin = begin(Arc::clone(&server), index, key, input);
    let thread = server.run_detached(begin).await?;
    let wait = preferred_wait(&parts.headers).min(limits.max_wait);
    if wait.is_zero() {
        return Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))).into_response());
    }
    wait_for_end(&server, index, &thread, wait).await
}

/// The identifier of a delivery. An empty one is refused: all senders with an empty header would share a thread.
fn delivery_key(headers: &BTreeMap<String, String>, name: &str) -> Result<Option<String>, Refusal> {
    match headers.get(name) {
        Some(key) if key.trim().is_empty() => Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            format!(
                "the header `{name}` is empty: send an identifier of the delivery, or no header"
            ),
        )),
        key => Ok(key.cloned()),
    }
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
        server.begin(index, thread.clone(), input).await?;
        return Ok(thread);
    };
    let digest = Sha256::digest(&key);
    let digest = digest
        .iter()
        .take(16)
        .fold(0, |id, byte| id << 8 | u128::from(*byte));
    let thread = format!("{}{digest:032x}", hook.prefix());
    let _lock = DeliveryLock::take(&server, &thread).await?;
    let Some(snapshot) = hook.threads.snapshot(&thread).await? else {
        server.begin(index, thread.clone(), input).await?;
        return Ok(thread);
    };
    // A node may have removed the variable.
    if let Some(first) = snapshot.state.get_var(REQUEST_VARIABLE)
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

/// A claim of the store in addition to that of the thread. With it, only one of several deliveries begins the thread, in
/// any process.
struct DeliveryLock {
    server: Arc<Inner>,
    name: String,
    owner: String,
}

impl DeliveryLock {
    async fn take(server: &Arc<Inner>, thread: &str) -> Result<Self, Refusal> {
        let lock = DeliveryLock {
            server: Arc::clone(server),
            name: format!("{thread}:begin"),
            owner: format!("{:032x}", fastrand::u128(..)),
        };
        let store = &server.settings.store;
        let taken = async {
            while let Claim::Busy { .. } = store.claim(&lock.name, &lock.owner).await? {
                tokio::time::sleep(LOCK_POLL_INTERVAL).await;
            }
            Ok::<_, Refusal>(())
        };
        match tokio::time::timeout(LOCK_TIMEOUT, taken).await {
            Ok(Ok(())) => Ok(lock),
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => Err(Refusal::new(
                StatusCode::CONFLICT,
                "another delivery with this identifier is being stored",
            )),
        }
    }
}

/// Does nothing if the claim was not granted.
impl Drop for DeliveryLock {
    fn drop(&mut self) {
        self.server.settings.store.release(&self.name, &self.owner);
    }
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
    let info = threads.info(thread).await?;
    let status = info.map_or(ThreadStatus::Running, |info| info.status);
    let mut body = json!({ "thread": thread, "status": status.as_str() });
    let code = match status {
        ThreadStatus::Finished => {
            if let Some(snapshot) = threads.snapshot(thread).await? {
                body["envelope"] = json!(WireEnvelope::from(&snapshot.state));
            }
            StatusCode::OK
        }
        // A caller that may deliver need not be allowed to see the reason. The status of the thread has it.
        ThreadStatus::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::ACCEPTED,
    };
    Ok((code, Json(body)).into_response())
}
