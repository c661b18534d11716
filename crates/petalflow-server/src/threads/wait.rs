//! Waits for the end of a thread, or for its next rest.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderMap, StatusCode};
use petalflow::checkpoint::ThreadStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::request;
use crate::rest::{self, is_end, is_rest};
use crate::server::Inner;
use crate::wait::preferred;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    /// How long to wait at most.
    seconds: Option<u64>,
    #[serde(default)]
    until: Until,
}

/// What to wait for.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Until {
    /// The thread has ended, is held, waits for a person, or sleeps.
    #[default]
    Rest,
    /// The thread has ended, or is held.
    End,
}

/// The thread when it rests: 200. If it does not in this time: 202 and its status.
pub(crate) async fn wait(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let Query { seconds, until } = request::query(&uri)?;
    let flow = server.reader(&thread).await?;
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    let _permit = permit.map_err(|_| Refusal::busy("too many clients wait or receive events"))?;
    let preferred = Some(preferred(&headers)).filter(|wait| !wait.is_zero());
    let longest = server.settings.limits.max_thread_wait;
    let wait = seconds.map(Duration::from_secs).or(preferred);
    let wait = wait.map_or(longest, |wait| wait.min(longest));
    let is_over = |status: ThreadStatus| match until {
        Until::Rest => is_rest(status),
        Until::End => is_end(status),
    };
    let info = tokio::select! {
        info = rest::reached(&server, &thread, wait, is_over) => info?,
        () = server.stopping.cancelled() => return Err(Refusal::busy("the server stops")),
    };
    if !is_over(info.status) && info.damage.is_none() {
        let body = json!({ "thread": thread, "status": info.status.as_str() });
        return Ok((StatusCode::ACCEPTED, Json(body)));
    }
    let view = flow.view(&thread, None).await?;
    let view = view.ok_or_else(crate::served::no_thread)?;
    Ok((StatusCode::OK, Json(view)))
}
