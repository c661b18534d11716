//! The schedules over HTTP: list, pause, continue, run now.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::define;
use super::shown::{sees_all, view};
use crate::access;
use crate::keyed_request::{Keyed, Of};
use crate::refusal::Refusal;
use crate::request;
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
    let keyed = keyed(&server, &request, "pause", &name)?;
    let of_task = Arc::clone(&server);
    let paused = async move {
        let records = &of_task.settings.schedules.records;
        let schedule = of_task.schedule(&name).await?;
        let now = records.now().await?;
        records.load(&name, now).await?;
        records.pause(&name).await?;
        view(&of_task, &schedule).await
    };
    Ok(Json(server.once(keyed, paused).await?))
}

/// Continues a schedule with the next planned time.
async fn unpause(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let keyed = keyed(&server, &request, "unpause", &name)?;
    let of_task = Arc::clone(&server);
    let unpaused = async move {
        let records = &of_task.settings.schedules.records;
        let schedule = of_task.schedule(&name).await?;
        let now = records.now().await?;
        let record = records.load(&name, now).await?;
        if record.paused {
            records.unpause(&name, now).await?;
        }
        view(&of_task, &schedule).await
    };
    Ok(Json(server.once(keyed, unpaused).await?))
}

/// A request that sets something of a schedule.
fn keyed(
    server: &Inner,
    request: &Request,
    address: &str,
    schedule: &str,
) -> Result<Option<Keyed>, Refusal> {
    let of = Of::Repeatable {
        about: schedule.to_string(),
    };
    let access = access::of(request);
    Keyed::of(server, &access, request.headers(), (address, b""), of)
}

/// Begins a thread now, also if the schedule is paused.
async fn run(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    sees_all(&request)?;
    let schedule = server.schedule(&name).await?;
    let key = request::identifier(request.headers(), &server.settings.key_header)?;
    let thread = if let Some(key) = key {
        // The thread itself is the record of the key.
        let key = access::of(&request).key(&key);
        server.begin_named(&schedule.schedule, &key).await?
    } else {
        let now = server.settings.schedules.records.now().await?;
        server.begin_planned(&schedule.schedule, now).await?
    };
    let flow = server.flow(schedule.schedule.flow())?;
    wait::respond(&server, &**flow, &thread, request.headers()).await
}
