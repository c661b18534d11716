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

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, StreamExt, stream};
use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::event::{EventKind, LoggedEvent};
use petalflow::interrupt::{Answer, InterruptId};
use petalflow::run::CancelToken;
use petalflow::thread::{Thread, ThreadRun, Threads};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use error::Refusal;
use flow::{ApproveRefund, PayRefund};

/// What all requests share. Clones are handles.
#[derive(Clone, Debug)]
pub struct App {
    threads: Threads<PayRefund>,
    /// Says when a run of this process has stored events, by thread.
    running: Arc<Mutex<HashMap<String, broadcast::Sender<()>>>>,
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
                if let Ok(run) = self.threads.thread(&*info.id).recover().begin().await {
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

    /// Runs what is stored, and wakes the clients that listen to the thread.
    fn follow(&self, id: String, run: ThreadRun<PayRefund>) {
        let (sender, _) = broadcast::channel(1);
        self.running().insert(id.clone(), sender.clone());
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut events = run.events();
            while let Some(event) = events.next().await {
                if let EventKind::Failed { error } = &event.kind {
                    eprintln!("refund {id}: {error}");
                }
                // With a checkpoint, the events before it are in the store. An error means that nobody listens.
                if let EventKind::Checkpoint { .. } = event.kind {
                    let _ = sender.send(());
                }
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

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, broadcast::Sender<()>>> {
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

/// The events of the refund. A client that reconnects names the last event that it has received. The stream ends with the run.
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let known = headers.get("last-event-id");
    let known = known.and_then(|known| known.to_str().ok()?.parse().ok());
    // Before the log is read, so that no event is missed in between.
    let stored = app.running().get(&id).map(broadcast::Sender::subscribe);
    let listener = Listener {
        known: known.unwrap_or(0),
        thread: app.threads.thread(id),
        stored,
    };
    let events = stream::unfold(listener, async |mut listener| {
        let events = listener.next().await?;
        Some((stream::iter(events), listener))
    });
    let events = events.flatten().map(|event| Ok(sse(&event)));
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// A client that listens.
struct Listener {
    thread: Thread<PayRefund>,
    /// The last event that the client has received.
    known: u64,
    /// Says when there are more, while a run of this process is in progress.
    stored: Option<broadcast::Receiver<()>>,
}

impl Listener {
    /// The next events. `None` if no run is in progress and the client has all of them.
    async fn next(&mut self) -> Option<Vec<LoggedEvent>> {
        loop {
            // A store that fails ends the stream, and the client reconnects.
            let events = self.thread.events_since(self.known).await.ok()?;
            if let Some(last) = events.last() {
                self.known = last.number;
                return Some(events);
            }
            if let Err(broadcast::error::RecvError::Closed) = self.stored.as_mut()?.recv().await {
                // The run has ended. Its last events may have been stored since.
                self.stored = None;
            }
        }
    }
}

fn sse(event: &LoggedEvent) -> Event {
    let named = Event::default().event(&event.kind);
    named
        .id(event.number.to_string())
        .data(event.value.to_string())
}
