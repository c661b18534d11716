//! The status of threads.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use petalflow_documents::WireEnvelope;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::server::Inner;

/// What is known of a thread.
pub(crate) async fn show(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let hook = server.owner(&thread)?;
    let unknown = || Refusal::not_found("there is no such thread");
    let info = hook.threads.info(&thread).await?.ok_or_else(unknown)?;
    let snapshot = hook.threads.snapshot(&thread).await?.ok_or_else(unknown)?;
    let tasks = snapshot.tasks.iter();
    let errors = tasks.filter_map(|task| {
        let error = task.error.as_ref()?;
        Some(json!({ "node": task.node, "error": error.to_string() }))
    });
    Ok(Json(json!({
        "thread": thread,
        "workflow": hook.workflow,
        "trigger": hook.trigger,
        "status": info.status.as_str(),
        "superstep": snapshot.info.superstep,
        "next": snapshot.info.next,
        "updated_ms": info.updated_ms,
        "errors": errors.collect::<Vec<_>>(),
        "questions": snapshot.interrupts,
        "envelope": WireEnvelope::from(&snapshot.state),
    })))
}
