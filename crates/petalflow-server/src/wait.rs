//! The response to a request that begins a run: at once, or when the run has ended.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use petalflow::checkpoint::ThreadStatus;
use serde_json::json;

use crate::refusal::Refusal;
use crate::rest::{self, is_rest};
use crate::served::ReadThreads;
use crate::server::Inner;

/// The response for a thread whose run has begun: 202, or what the run has led to if the client waits for it.
pub(crate) async fn respond(
    server: &Inner,
    flow: &dyn ReadThreads,
    thread: &str,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let wait = preferred(headers).min(server.settings.limits.max_wait);
    if wait.is_zero() {
        return Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))).into_response());
    }
    // A run that a shutdown stops ends the wait: another process continues it later.
    let is_over = |status| is_rest(status) || status == ThreadStatus::Stopped;
    let info = rest::reached(server, thread, wait, is_over).await?;
    let status = info.status;
    let mut body = json!({ "thread": thread, "status": status.as_str() });
    let code = match status {
        ThreadStatus::Finished => {
            if let Some(mut view) = flow.view(thread, None).await? {
                body["state"] = view["state"].take();
            }
            StatusCode::OK
        }
        ThreadStatus::Waiting => {
            if let Some(mut view) = flow.view(thread, None).await? {
                body["waits"] = view["waits"].take();
            }
            StatusCode::ACCEPTED
        }
        ThreadStatus::Sleeping => {
            body["due_ms"] = json!(info.due_ms);
            StatusCode::ACCEPTED
        }
        // A caller that may begin a run need not be allowed to see the reason. The status of the thread has it.
        ThreadStatus::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::ACCEPTED,
    };
    Ok((code, Json(body)).into_response())
}

/// The seconds of `Prefer: wait=SECONDS` (RFC 7240). Zero without that header.
pub(crate) fn preferred(headers: &HeaderMap) -> Duration {
    let values = headers.get_all("prefer").iter();
    let preferences = values.filter_map(|value| value.to_str().ok());
    let mut preferences = preferences.flat_map(|value| value.split([',', ';']));
    let seconds = preferences.find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        is_wait.then(|| value.trim().trim_matches('"').parse().ok())?
    });
    Duration::from_secs(seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seconds_of_a_wait_are_read() {
        for (value, seconds) in [
            ("wait=30", 30),
            ("respond-async, wait=30", 30),
            ("Wait = \"7\"; x=1", 7),
            ("wait=soon", 0),
            ("waiting=3", 0),
            ("respond-async", 0),
        ] {
            let headers = [(
                "prefer".parse().expect("a name"),
                value.parse().expect("a value"),
            )];
            let headers: HeaderMap = headers.into_iter().collect();
            assert_eq!(preferred(&headers), Duration::from_secs(seconds), "{value}");
        }
    }
}
