//! The served agents and conversations, as models.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::error::ApiError;
use crate::served::{FlowKind, ServedThreads};
use crate::server::Inner;

/// The models.
pub(super) async fn list(State(server): State<Arc<Inner>>) -> Json<Value> {
    let flows = server
        .settings
        .flows
        .iter()
        .filter(|flow| is_model(&***flow));
    let models: Vec<Value> = flows.map(|flow| model(&**flow)).collect();
    Json(json!({ "object": "list", "data": models }))
}

/// One model.
pub(super) async fn show(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(model(&**find(&server, &name)?)))
}

/// The agent or conversation with this name.
pub(super) fn find<'s>(
    server: &'s Arc<Inner>,
    name: &str,
) -> Result<&'s Arc<dyn ServedThreads>, ApiError> {
    let flow = server.flow(name).ok().filter(|flow| is_model(&***flow));
    flow.ok_or_else(|| {
        let text =
            format!("there is no model `{name}`: `/v1/models` lists the agents and conversations");
        let error = ApiError::not_found(text);
        error.with_code("model_not_found")
    })
}

fn is_model(flow: &dyn ServedThreads) -> bool {
    matches!(flow.facts().kind, FlowKind::Agent | FlowKind::Conversation)
}

fn model(flow: &dyn ServedThreads) -> Value {
    // When the program was written is not known.
    json!({ "id": flow.facts().name, "object": "model", "created": 0, "owned_by": "petalflow" })
}
