//! The flows that a server serves.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::hook::Hook;
use crate::refusal::Refusal;
use crate::served::ReadThreads;
use crate::server::Inner;

/// All flows.
pub(crate) async fn list(State(server): State<Arc<Inner>>) -> Result<Json<Value>, Refusal> {
    let served = server.settings.flows.iter();
    let served = served.map(|flow| flow.description());
    let hooks = server.hook_flows();
    let hooks = hooks.map(|hook| described(&server, &*hook.threads));
    let stored = server.stored_flows().await?;
    let stored = stored.iter().map(ReadThreads::description);
    let flows: Value = served.chain(hooks).chain(stored).collect();
    Ok(Json(json!({ "flows": flows })))
}

/// One flow.
pub(crate) async fn show(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
) -> Result<Json<Value>, Refusal> {
    if let (Err(unknown), Some(_)) = (server.shown_flow(&flow), &server.settings.stored) {
        let stored = server.stored_flows().await?;
        let mut stored = stored.iter();
        let found = stored.find(|stored| stored.facts().name == flow);
        return found.map(|flow| Json(flow.description())).ok_or(unknown);
    }
    let shown = server.shown_flow(&flow)?;
    Ok(Json(described(&server, shown)))
}

/// The flow for clients, with the addresses of the webhooks that start it.
fn described(server: &Inner, flow: &dyn ReadThreads) -> Value {
    let mut description = flow.description();
    let webhooks: Vec<String> = server
        .hooks_of(&flow.facts().name)
        .map(Hook::path)
        .collect();
    if !webhooks.is_empty() {
        description["webhooks"] = json!(webhooks);
    }
    description
}

/// The drawing of its graph.
pub(crate) async fn drawing(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
) -> Result<impl IntoResponse, Refusal> {
    if server.is_stored(&flow) {
        let text = format!("the graph of `{flow}` is not known: its program is not here");
        return Err(Refusal::not_found(text));
    }
    let drawing = server.shown_flow(&flow)?.facts().drawing.clone();
    Ok(([(CONTENT_TYPE, "image/svg+xml")], drawing))
}
