//! `GET /metrics`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use petalflow::checkpoint::{Store as _, StoreError, ThreadQuery, ThreadStatus};

use crate::access;
use crate::metrics::OTHER;
use crate::refusal::Refusal;
use crate::server::Inner;

/// The media type of `OpenMetrics`, which Prometheus reads.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Each status of a thread.
const STATUSES: [ThreadStatus; 7] = [
    ThreadStatus::Running,
    ThreadStatus::Waiting,
    ThreadStatus::Sleeping,
    ThreadStatus::Stopped,
    ThreadStatus::Held,
    ThreadStatus::Failed,
    ThreadStatus::Finished,
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

/// Reads from the store what a process does not know by itself: two counts, which the index of a database answers.
async fn count_threads(server: &Inner) -> Result<(), StoreError> {
    let store = &server.settings.store;
    let mut threads: BTreeMap<(&str, ThreadStatus), u64> = BTreeMap::new();
    let flows = &server.settings.flows;
    for flow in flows.iter().map(|flow| &*flow.facts().name).chain([OTHER]) {
        // None is a number too.
        threads.extend(STATUSES.map(|status| ((flow, status), 0)));
    }
    for count in store.thread_counts(ThreadQuery::default()).await? {
        let served = flows.iter().find(|flow| flow.stored_name() == count.flow);
        let flow = served.map_or(OTHER, |flow| &*flow.facts().name);
        *threads.entry((flow, count.status)).or_default() += count.threads;
    }
    for ((flow, status), count) in threads {
        server.metrics.set_threads(flow, status, count);
    }
    let due = ThreadQuery {
        due_by_ms: Some(store.now_ms().await?),
        ..ThreadQuery::default()
    };
    let due = store.thread_counts(due).await?;
    let due = due.iter().map(|count| count.threads).sum();
    server.metrics.set_due(due);
    Ok(())
}
