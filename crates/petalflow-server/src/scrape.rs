//! `GET /metrics`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use petalflow::checkpoint::{Store as _, StoreError, ThreadQuery, ThreadStatus};

use crate::access;
use crate::refusal::Refusal;
use crate::server::Inner;

/// The media type of `OpenMetrics`, which Prometheus reads.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How many threads of a status are counted. A scrape must not read the whole store.
const MOST: usize = 1_000;

/// The statuses that are counted. Most threads have finished.
const COUNTED: [ThreadStatus; 6] = [
    ThreadStatus::Running,
    ThreadStatus::Waiting,
    ThreadStatus::Sleeping,
    ThreadStatus::Stopped,
    ThreadStatus::Held,
    ThreadStatus::Failed,
];

/// The numbers, in the format of `OpenMetrics`.
pub(crate) async fn metrics(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    access::must_see_all(&request, "metrics")?;
    count_threads(&server).await?;
    let text = server.metrics.text().map_err(|error| {
        let text = format!("the metrics cannot be written: {error}");
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    })?;
    Ok(([(CONTENT_TYPE, TEXT)], text))
}

/// Reads from the store what a process does not know by itself.
async fn count_threads(server: &Inner) -> Result<(), StoreError> {
    let metrics = &server.metrics;
    for status in COUNTED {
        let query = ThreadQuery {
            status: Some(status),
            ..ThreadQuery::default()
        };
        metrics.set_threads(status, count(server, query).await?);
    }
    let now_ms = server.settings.store.now_ms().await?;
    let due = ThreadQuery {
        due_by_ms: Some(now_ms),
        ..ThreadQuery::default()
    };
    metrics.set_due(count(server, due).await?);
    Ok(())
}

async fn count(server: &Inner, query: ThreadQuery<'_>) -> Result<usize, StoreError> {
    let query = ThreadQuery {
        limit: Some(MOST),
        ..query
    };
    let found = server.settings.store.threads(query).await?;
    // A damaged thread meets each condition.
    let found = found.iter().filter(|info| info.damage.is_none());
    Ok(found.count())
}
