//! Whether the server can take requests, for a load balancer.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::server::Inner;

/// How long the store may take to answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// 200 if the store answers. The reason of a failure is not in the response, which needs no token.
pub(crate) async fn health(State(server): State<Arc<Inner>>) -> Result<Json<Value>, Refusal> {
    if server.is_stopping() {
        return Err(Refusal::busy("the server stops"));
    }
    match tokio::time::timeout(STORE_TIMEOUT, server.check_store()).await {
        Ok(Ok(())) => Ok(Json(json!({ "status": "ok" }))),
        _ => Err(Refusal::busy("the store does not answer")),
    }
}
