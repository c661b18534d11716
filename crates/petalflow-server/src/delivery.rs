//! Webhook deliveries: from a request to a trigger to a stored run.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use petalflow_documents::Envelope;

use crate::Notice;
use crate::digest::digest;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;
use crate::start_lock::StartLock;
use crate::wait;

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
    let threads = &server.settings.hooks[index].threads;
    wait::respond(&server, &**threads, &thread, &parts.headers).await
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
