//! The flows that a server serves.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::server::Inner;

/// All flows.
pub(crate) async fn list(State(server): State<Arc<Inner>>) -> Json<Value> {
    let flows = server.settings.flows.iter();
    let flows: Value = flows.map(|flow| flow.description()).collect();
    Json(json!({ "flows": flows }))
}

/// One flow.
pub(crate) async fn show(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
) -> Result<Json<Value>, Refusal> {
    Ok(Json(server.flow(&flow)?.description()))
}

/// The drawing of its graph.
pub(crate) async fn drawing(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
) -> Result<impl IntoResponse, Refusal> {
    let drawing = server.flow(&flow)?.facts().drawing.clone();
    Ok(([(CONTENT_TYPE, "image/svg+xml")], drawing))
}
