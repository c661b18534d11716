//! Stops the run of a thread, in whichever process it is.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use petalflow::checkpoint::ThreadStatus;
use serde_json::{Value, json};

use crate::access;
use crate::keyed_request::{Keyed, Of};
use crate::refusal::Refusal;
use crate::served::Stop;
use crate::server::Inner;
use crate::wait;

/// How long a request waits at least for the end of a run. A run of another process looks for commands once in a second.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);

type Response = Result<(StatusCode, Json<Value>), Refusal>;

/// Cancels the run of a thread, which is held then.
pub(crate) async fn cancel(
    server: State<Arc<Inner>>,
    thread: Path<String>,
    request: Request,
) -> Response {
    respond(server, thread, request, Stop::Cancel).await
}

/// Stops the run of a thread at its next barrier. The thread is held then.
pub(crate) async fn hold(
    server: State<Arc<Inner>>,
    thread: Path<String>,
    request: Request,
) -> Response {
    respond(server, thread, request, Stop::Hold).await
}

/// Stops the run of a thread at its next barrier. The next process that recovers threads continues it.
pub(crate) async fn drain(
    server: State<Arc<Inner>>,
    thread: Path<String>,
    request: Request,
) -> Response {
    respond(server, thread, request, Stop::Drain).await
}

async fn respond(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
    stop: Stop,
) -> Response {
    let (access, headers) = (access::of(&request), request.headers().clone());
    let wait = wait::preferred(&headers).min(server.settings.limits.max_wait);
    // A run that somebody has begun since then is not stopped: the answer of the first request is known.
    let of = Of::Repeatable {
        about: thread.clone(),
    };
    let keyed = Keyed::of(&server, &access, &headers, (stop.as_str(), b""), of)?;
    let of_task = Arc::clone(&server);
    let stopped = async move {
        let mut body = json!({ "thread": thread });
        if let Some(status) = of_task.stop_run(&thread, stop, wait).await? {
            body["status"] = status.as_str().into();
        }
        Ok(body)
    };
    let stopped = server.once(keyed, stopped).await?;
    Ok((StatusCode::ACCEPTED, Json(stopped)))
}

fn has_ended(status: ThreadStatus) -> bool {
    matches!(status, ThreadStatus::Finished | ThreadStatus::Failed)
}

impl Inner {
    /// Stops the run of a thread, wherever it is. Returns the status of the thread when no run has it, or `None` if it stops later. Fails
    /// if the thread has ended, or if its engine cannot do this.
    pub(crate) async fn stop_run(
        &self,
        thread: &str,
        stop: Stop,
        wait: Duration,
    ) -> Result<Option<ThreadStatus>, Refusal> {
        match self.stop(thread, stop, wait.max(SHORTEST_WAIT)).await? {
            Some(status) if has_ended(status) => Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("no run has the thread: it is {status}"),
            )),
            status => Ok(status),
        }
    }

    /// Stops the run of a thread, in any process. Returns the status of the thread when no run has it. `None` if it still has one after
    /// this time: then the run stops later.
    async fn stop(
        &self,
        thread: &str,
        stop: Stop,
        wait: Duration,
    ) -> Result<Option<ThreadStatus>, Refusal> {
        let flow = self.owner(thread).await?;
        if stop == Stop::Cancel {
            // Those of this process that wait for the thread would continue it.
            self.cancel(thread);
        }
        let is_elsewhere = flow.elsewhere().is_some();
        let (thread, stopping) = (thread.to_owned(), self.stopping.clone());
        // It goes on if the client disconnects, and after the time.
        let stopped = self.run_detached(async move {
            tokio::select! {
                status = flow.stop(&thread, stop) => status.map(Some),
                // The engine has the command, and nothing of this process stops for it.
                () = stopping.cancelled(), if is_elsewhere => Ok(None),
            }
        });
        tokio::time::timeout(wait, stopped)
            .await
            .unwrap_or(Ok(None))
    }

    /// Cancels the run of a thread, wherever it is. Returns whether the thread can be cancelled: it has not ended.
    #[cfg(any(feature = "a2a", feature = "mcp", feature = "openai"))]
    pub(crate) async fn cancel_anywhere(&self, thread: &str) -> Result<bool, Refusal> {
        let status = self.stop(thread, Stop::Cancel, SHORTEST_WAIT).await?;
        Ok(!status.is_some_and(has_ended))
    }
}
