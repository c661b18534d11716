//! The labels of a thread. Names that begin with `petalflow.` are those of the server and of the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::access;
use crate::refusal::Refusal;
use crate::request;
use crate::served::{Labels, no_thread};
use crate::server::Inner;

/// The label with a checksum of the request that has started a thread.
pub(super) const REQUEST: &str = "petalflow.request";

/// The label with the name of the schedule that has begun a thread.
#[cfg(feature = "schedules")]
pub(crate) const SCHEDULE: &str = "petalflow.schedule";

const RESERVED: &str = "petalflow.";

/// Replaces the labels of a thread that are not reserved.
pub(crate) async fn replace(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let flow = server.owner(&thread).await?;
    let access = access::of(&request);
    let limit = server.settings.limits.max_answer_bytes;
    let labels: Labels = request::json(request, limit, &server).await?;
    let before = server.info(&thread).await?.ok_or_else(no_thread)?.labels;
    let labels = access.with_required(with_reserved(labels, &before)?)?;
    let shown = json!({ "labels": labels });
    flow.set_labels(&thread, labels).await?;
    Ok((StatusCode::OK, Json(shown)))
}

/// Whether only the server and the engine set a label with this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

/// The labels of a client, with the reserved ones of the thread, which a client may repeat but not change.
pub(super) fn with_reserved(mut labels: Labels, before: &Labels) -> Result<Labels, Refusal> {
    for (name, value) in &labels {
        if is_reserved(name) && before.get(name) != Some(value) {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!(
                    "the label `{name}` cannot be set: names that begin with `{RESERVED}` are reserved"
                ),
            ));
        }
    }
    let reserved = before.iter().filter(|(name, _)| is_reserved(name));
    let reserved: BTreeMap<_, _> = reserved
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    labels.extend(reserved);
    Ok(labels)
}
