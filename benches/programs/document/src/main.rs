//! The program `service` with a flow that a document describes: `document DOCUMENT DATABASE MODEL_URL`.

mod flow;

use std::path::Path as FilePath;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::interrupt::Interrupt;
use petalflow::thread::{ThreadError, ThreadRun, Threads};
use petalflow::{Graph, RunError};
use petalflow_documents::Envelope;
use petalflow_documents::kinds::{HumanQuestion, HumanResponse};
use petalflow_llm::ProviderModel;
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};

use flow::load;

type Complaints = Threads<Graph<Envelope>>;
type Refusal = (StatusCode, String);

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(document), Some(database), Some(model_url)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: document DOCUMENT DATABASE MODEL_URL".into());
    };
    let model = ProviderModel::openai_compatible(model_url, "small");
    let flow = load(FilePath::new(&document), model)?;
    let store = SqliteStore::open(database).await?;
    let complaints = flow.launch().store(&store);
    recover(&complaints).await?;

    let router = Router::new()
        .route("/complaints/{id}", get(show).post(begin))
        .route("/complaints/{id}/answer", post(answer))
        .with_state(complaints);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// Continues the runs that a process left when it ended.
async fn recover(complaints: &Complaints) -> Result<(), ThreadError> {
    let query = ThreadQuery {
        status: Some(ThreadStatus::Running),
        ..ThreadQuery::default()
    };
    for info in complaints.list(query).await? {
        // An error means that another process runs it.
        if let Ok(run) = complaints.thread(info.id).resume(()).begin().await {
            spawn(run);
        }
    }
    Ok(())
}

/// Runs what is stored.
fn spawn(run: ThreadRun<Graph<Envelope>>) {
    tokio::spawn(async move {
        if let Err(error) = run.await {
            eprintln!("{error}");
        }
    });
}

async fn begin(
    State(complaints): State<Complaints>,
    Path(id): Path<String>,
    text: String,
) -> Result<StatusCode, Refusal> {
    let thread = complaints.thread(id);
    if thread.info().await.map_err(failed)?.is_some() {
        return Err((
            StatusCode::CONFLICT,
            "there is a complaint with this id".into(),
        ));
    }
    spawn(
        thread
            .run(Envelope::new().with_var("text", text))
            .begin()
            .await
            .map_err(refused)?,
    );
    Ok(StatusCode::ACCEPTED)
}

async fn show(
    State(complaints): State<Complaints>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let thread = complaints.thread(id);
    let (Some(info), Some(snapshot)) = (
        thread.info().await.map_err(failed)?,
        thread.snapshot().await.map_err(failed)?,
    ) else {
        return Err((StatusCode::NOT_FOUND, "there is no such complaint".into()));
    };
    let question = snapshot
        .interrupts
        .first()
        .and_then(Interrupt::question::<HumanQuestion>);
    Ok(Json(json!({
        "status": info.status.as_str(),
        "question": question.map(|HumanQuestion(request)| request.prompt),
        "reply": snapshot.state.get_var_string("reply"),
    })))
}

async fn answer(
    State(complaints): State<Complaints>,
    Path(id): Path<String>,
    Json(accepted): Json<bool>,
) -> Result<StatusCode, Refusal> {
    let response = HumanResponse {
        approved: accepted,
        ..HumanResponse::default()
    };
    let thread = complaints.thread(id);
    let snapshot = thread.snapshot().await.map_err(failed)?;
    let question = snapshot.iter().flat_map(|it| &it.interrupts).next();
    let question = question.ok_or_else(|| (StatusCode::CONFLICT, "no question is open".into()))?;
    let answer = question
        .answer::<HumanQuestion>(Some(response))
        .map_err(|error| failed(error.into()))?;
    spawn(thread.resume(answer).begin().await.map_err(refused)?);
    Ok(StatusCode::ACCEPTED)
}

/// The thread is in a state in which it cannot run, or the store failed.
fn refused(error: RunError) -> Refusal {
    let status = match error.thread_error() {
        Some(ThreadError::Store(_)) | None => StatusCode::INTERNAL_SERVER_ERROR,
        Some(_) => StatusCode::CONFLICT,
    };
    (status, error.to_string())
}

fn failed(error: ThreadError) -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
