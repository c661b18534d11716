//! An HTTP server over stored threads. The guide "Behind axum" explains it.
//!
//! | request | answer |
//! | --- | --- |
//! | `POST /refunds/{id}` with `{"cents": 1299}` | 202: the refund is stored, and its run goes on |
//! | `GET /refunds/{id}` | the status, the log and the open questions |
//! | `GET /refunds/{id}/events` | the events of the run as they happen (SSE) |
//! | `POST /refunds/{id}/answers/{question}` with `{"pay": true, "by": "Ann"}` | 202 for the first answer, 409 for all others |

mod error;
pub mod flow;

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, stream};
use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::event::EventKind;
use petalflow::interrupt::{Answer, InterruptId};
use petalflow::run::CancelToken;
use petalflow::thread::{ThreadRun, Threads};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use error::Refusal;
use flow::{ApproveRefund, PayRefund, Refund};

/// What all requests share. Clones are handles.
#[derive(Clone, Debug)]
pub struct App {
    threads: Threads<PayRefund>,
    /// The listeners of the runs of this process, by thread.
    running: Arc<Mutex<HashMap<String, broadcast::Sender<Event>>>>,
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
            threads: PayRefund::new().cancel_with(&stop).store(&store),
            running: Arc::default(),
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
                if let Ok(run) = self
                    .threads
                    .thread(info.id.clone())
                    .resume(())
                    .begin()
                    .await
                {
                    self.follow(info.id, run);
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

    /// Runs what is stored, and tells the listeners of the thread.
    fn follow(&self, id: String, run: ThreadRun<PayRefund>) {
        let (sender, _) = broadcast::channel(64);
        self.running().insert(id.clone(), sender.clone());
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut events = run.events();
            while let Some(event) = events.next().await {
                if let EventKind::Failed { error } = &event.kind {
                    eprintln!("refund {id}: {error}");
                }
                // An error means that nobody listens.
                let _ = sender.send(sse(&event));
            }
            // A later run of the thread has its own channel.
            let mut running = app.running();
            if running
                .get(&id)
                .is_some_and(|newest| newest.same_channel(&sender))
            {
                running.remove(&id);
            }
        });
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, broadcast::Sender<Event>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
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
    let run = thread.begin(new.cents).await?;
    app.follow(id.clone(), run);
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
    app.follow(id, run);
    Ok(StatusCode::ACCEPTED)
}

/// The events of the run from now on. The stream ends with the run.
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let receiver = app.running().get(&id).map(broadcast::Sender::subscribe);
    let events = stream::unfold(receiver, async |receiver| {
        let mut receiver = receiver?;
        loop {
            match receiver.recv().await {
                Ok(event) => return Some((Ok(event), Some(receiver))),
                // A slow client misses events, and can read the status.
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// An event as JSON. The event `finished` has the state.
fn sse(event: &petalflow::Event<Refund>) -> Event {
    let named = Event::default().event(event.kind.name());
    let failed = |error: axum::Error| Event::default().event("unreadable").data(error.to_string());
    named.json_data(event).unwrap_or_else(failed)
}
