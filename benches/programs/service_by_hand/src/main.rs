//! The program `service` without petalflow.

mod flow;
mod model;
mod store;
mod tools;

use std::error::Error;
use std::path::Path as FilePath;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use flow::Flow;
use model::Model;
use store::Store;

type BoxError = Box<dyn Error + Send + Sync>;
type Result<T, E = BoxError> = std::result::Result<T, E>;
type Refusal = (StatusCode, String);

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(database), Some(model_url)) = (arguments.next(), arguments.next()) else {
        return Err("usage: service_by_hand DATABASE MODEL_URL".into());
    };
    let store = Store::open(FilePath::new(&database))?;
    let flow = Flow {
        store,
        model: Model::new(&model_url)?,
    };
    for id in flow.store.running().await? {
        spawn(&flow, id);
    }

    let router = Router::new()
        .route("/complaints/{id}", get(show).post(begin))
        .route("/complaints/{id}/answer", post(answer))
        .with_state(flow);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// Runs what is stored.
fn spawn(flow: &Flow, id: String) {
    let flow = flow.clone();
    tokio::spawn(async move {
        if let Err(error) = flow.run(id).await {
            eprintln!("{error}");
        }
    });
}

async fn begin(
    State(flow): State<Flow>,
    Path(id): Path<String>,
    text: String,
) -> Result<StatusCode, Refusal> {
    if !flow.store.insert(id.clone(), text).await.map_err(failed)? {
        return Err((
            StatusCode::CONFLICT,
            "there is a complaint with this id".into(),
        ));
    }
    spawn(&flow, id);
    Ok(StatusCode::ACCEPTED)
}

async fn show(State(flow): State<Flow>, Path(id): Path<String>) -> Result<Json<Value>, Refusal> {
    let Some(complaint) = flow.store.get(id).await.map_err(failed)? else {
        return Err((StatusCode::NOT_FOUND, "there is no such complaint".into()));
    };
    let waiting = complaint.status == "waiting";
    Ok(Json(json!({
        "status": complaint.status,
        "question": complaint.proposal.filter(|_| waiting),
        "reply": complaint.reply.unwrap_or_default(),
    })))
}

async fn answer(
    State(flow): State<Flow>,
    Path(id): Path<String>,
    Json(accepted): Json<bool>,
) -> Result<StatusCode, Refusal> {
    if !flow
        .store
        .answer(id.clone(), accepted)
        .await
        .map_err(failed)?
    {
        return Err((StatusCode::CONFLICT, "no question is open".into()));
    }
    spawn(&flow, id);
    Ok(StatusCode::ACCEPTED)
}

fn failed(error: BoxError) -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
