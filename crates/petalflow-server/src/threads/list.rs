//! The list of threads.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use petalflow::checkpoint::{ThreadInfo, ThreadQuery, ThreadStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access;
use crate::refusal::Refusal;
use crate::request;
use crate::server::{Inner, prefix};

/// Which threads are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Query {
    /// The name of a flow: the threads that the server has started for it.
    flow: String,
    status: Option<String>,
    /// `name:value`.
    label: Option<String>,
    /// What the ids begin with.
    prefix: String,
    after: Option<String>,
    limit: Option<usize>,
}

/// A page of the threads, in the order of their ids. It has fewer than `limit` threads if some are not served, or if their
/// labels do not fit.
pub(crate) async fn list(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let query: Query = request::query(request.uri())?;
    let status = query.status.as_deref().map(status).transpose()?;
    let label = query.label.as_deref().map(label).transpose()?;
    let limit = request::page_size(query.limit);
    // The ids of a flow begin with its name, also while its first run is in progress.
    let (begins, stored_name) = match &*query.flow {
        "" => (query.prefix, None),
        flow if server.is_stored(flow) => (query.prefix, Some(flow)),
        flow => {
            let prefix = prefix(server.shown_flow(flow)?.facts());
            let is_of_flow = query.prefix.starts_with(&prefix);
            if is_of_flow {
                (query.prefix, None)
            } else {
                (prefix + &query.prefix, None)
            }
        }
    };
    let page = ThreadQuery {
        prefix: &begins,
        after: query.after.as_deref(),
        limit: Some(limit),
        status,
        flow: stored_name,
        // The store compares one label. The required one leaves fewer threads.
        label: access.required().or(label),
        ..ThreadQuery::default()
    };
    let found = server.list(page).await?;
    let next = found.get(limit - 1).map(|last| last.id.clone());
    let has_label = |info: &&ThreadInfo| {
        label.is_none_or(|(name, value)| info.labels.get(name).is_some_and(|it| it == value))
    };
    let threads = found.iter().filter(has_label).filter_map(|info| {
        let flow = server.flow_of(info)?;
        Some(listed(info, &flow))
    });
    Ok(Json(
        json!({ "threads": threads.collect::<Value>(), "next": next }),
    ))
}

fn listed(info: &ThreadInfo, flow: &str) -> Value {
    let mut listed = json!(info);
    listed["flow"] = flow.into();
    listed["damage"] = json!(info.damage);
    listed
}

fn status(text: &str) -> Result<ThreadStatus, Refusal> {
    ThreadStatus::named(text).ok_or_else(|| {
        let known = "`running`, `waiting`, `sleeping`, `stopped`, `held`, `failed` and `finished`";
        wrong(format!("there is no status `{text}`: there are {known}"))
    })
}

pub(super) fn label(text: &str) -> Result<(&str, &str), Refusal> {
    let problem = || {
        wrong(format!(
            "the label `{text}` has no value: write `name:value`"
        ))
    };
    text.split_once(':').ok_or_else(problem)
}

pub(super) fn wrong(text: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, text)
}
