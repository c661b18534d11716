//! An HTTP server over stored threads. The guide "Behind axum" explains it.
//!
//! | request | answer |
//! | --- | --- |
//! | `POST /refunds/{id}` with `{"cents": 1299}` | 202: the refund is stored, and its run continues |
//! | `GET /refunds/{id}` | the status, the log and the open questions |
//! | `GET /refunds/{id}/events` | the events of the refund, and those that follow (SSE); with `Last-Event-ID` those after it |
//! | `POST /refunds/{id}/answers/{question}` with `{"pay": true, "by": "Ann"}` | 202 for the first answer, 409 for all others |

mod error;
pub mod flow;
pub mod webhooks;

use std::convert::Infallible;
use std::path::Path as FilePath;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, StreamExt};
use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::event::LoggedEvent;
use petalflow::interrupt::{Answer, InterruptId};
use petalflow::run::CancelToken;
use petalflow::thread::{ThreadRun, Threads};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use error::Refusal;
use flow::{ApproveRefund, PayRefund};

/// What all requests share. Clones are handles.
#[derive(Clone, Debug)]
pub struct App {
    threads: Threads<PayRefund>,
    tasks: TaskTracker,
    stop: CancelToken,
}

impl App {
    /// Opens the file with the refunds.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub async fn open(file: &FilePath) -> petalflow::Result<Self> {
        let (store, stop) = (SqliteStore::open(file).await?, CancelToken::new());
        Ok(App {
            threads: PayRefund::new()
                .cancel_with(&stop)
                .store(&store)
                .event_log(1_000),
            tasks: TaskTracker::new(),
            stop,
        })
    }

    /// Continues the runs that a process left when it ended. Returns how many.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn recover(&self) -> petalflow::Result<usize> {
        let mut recovered = 0;
        // Interrupted by a crash, or stopped by a shutdown.
        for status in [ThreadStatus::Running, ThreadStatus::Stopped] {
            let query = ThreadQuery {
                status: Some(status),
                ..ThreadQuery::default()
            };
            for info in self.threads.list(query).await? {
                // Another process may run it: then it is busy, and not lost.
                if let Ok(run) = self.threads.thread(&*info.id).recover().begin().await {
                    self.spawn(info.id, run);
                    recovered += 1;
                }
            }
        }
        Ok(recovered)
    }

    /// Stops the runs at their next barrier and waits for them. The next process recovers them.
    pub async fn drain(&self) {
        self.stop.drain();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Runs what is stored.
    fn spawn(&self, id: String, run: ThreadRun<PayRefund>) {
        self.tasks.spawn(async move {
            if let Err(error) = run.await {
                eprintln!("refund {id}: {error}");
            }
        });
    }
}

/// The routes of the server.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/refunds/{id}", get(show).post(begin))
        .route("/refunds/{id}/events", get(events))
        .route("/refunds/{id}/answers/{question}", post(answer))
        .with_state(app)
}

/// The body of a new refund.
#[derive(serde::Deserialize)]
struct NewRefund {
    cents: u64,
}

/// Begins a refund. It is in the store when the client reads 202.
async fn begin(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(new): Json<NewRefund>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let thread = app.threads.thread(id.clone());
    if thread.snapshot().await?.is_some() {
        return Err(Refusal::conflict("there is a refund with this id already"));
    }
    let run = thread.run(new.cents).begin().await?;
    app.spawn(id.clone(), run);
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
}

async fn show(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Value>, Refusal> {
    let thread = app.threads.thread(id);
    let info = thread.info().await?.ok_or_else(Refusal::unknown)?;
    let snapshot = thread.snapshot().await?.ok_or_else(Refusal::unknown)?;
    Ok(Json(json!({
        "status": info.status.as_str(),
        "log": snapshot.state.log,
        "questions": snapshot.interrupts,
    })))
}

/// Answers one question. The store accepts one answer, also if two clerks answer in two processes at the same time.
async fn answer(
    State(app): State<App>,
    Path((id, question)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Result<StatusCode, Refusal> {
    let question: InterruptId = question.parse()?;
    let answer = Answer::deserialize::<ApproveRefund>(question, &body)?;
    let run = app
        .threads
        .thread(id.clone())
        .resume(answer)
        .begin()
        .await?;
    app.spawn(id, run);
    Ok(StatusCode::ACCEPTED)
}

/// The events of the refund. A client that reconnects names the last event that it has received. The stream ends with the run.
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let known = headers.get("last-event-id");
    let known = known.and_then(|known| known.to_str().ok()?.parse().ok());
    // A store that fails ends the stream, and the client reconnects.
    let events = app.threads.thread(id).follow(known.unwrap_or(0));
    let events = events.scan((), |(), event| std::future::ready(event.ok()));
    Sse::new(events.map(|event| Ok(sse(&event)))).keep_alive(KeepAlive::default())
}

fn sse(event: &LoggedEvent) -> Event {
    let named = Event::default().event(&event.kind);
    named
        .id(event.number.to_string())
        .data(event.value.to_string())
}
