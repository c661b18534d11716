//! The schedules over HTTP: list, pause, continue, run now.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::define;
use super::shown::{sees_all, view};
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wait;

/// The addresses of schedules.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    let of_one = get(show).put(define::define).delete(define::delete);
    Router::new()
        .route("/schedules", get(list))
        .route("/schedules/{schedule}", of_one)
        .route("/schedules/{schedule}/backfill", post(define::backfill))
        .route("/schedules/{schedule}/pause", post(pause))
        .route("/schedules/{schedule}/unpause", post(unpause))
        .route("/schedules/{schedule}/run", post(run))
}

async fn list(State(server): State<Arc<Inner>>, request: Request) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let mut views = Vec::new();
    for schedule in server.all_schedules().await? {
        views.push(view(&server, &schedule).await?);
    }
    Ok(Json(json!({ "schedules": views })))
}

async fn show(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let schedule = server.schedule(&name).await?;
    Ok(Json(view(&server, &schedule).await?))
}

/// Pauses a schedule, in all processes with the store.
async fn pause(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let schedules = &server.settings.schedules;
    let schedule = server.schedule(&name).await?;
    let now = schedules.records.now().await?;
    schedules.records.load(&name, now).await?;
    schedules.records.pause(&name).await?;
    Ok(Json(view(&server, &schedule).await?))
}

/// Continues a schedule with the next planned time.
async fn unpause(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let schedules = &server.settings.schedules;
    let schedule = server.schedule(&name).await?;
    let now = schedules.records.now().await?;
    let record = schedules.records.load(&name, now).await?;
    if record.paused {
        schedules.records.unpause(&name, now).await?;
    }
    Ok(Json(view(&server, &schedule).await?))
}

/// Begins a thread now, also if the schedule is paused.
async fn run(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    sees_all(&request)?;
    let schedules = &server.settings.schedules;
    let schedule = server.schedule(&name).await?;
    let now = schedules.records.now().await?;
    let thread = server.begin_planned(&schedule.schedule, now).await?;
    let flow = server.flow(schedule.schedule.flow())?;
    wait::respond(&server, &**flow, &thread, request.headers()).await
}
