//! The list of threads, and how many there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use petalflow::checkpoint::{ThreadInfo, ThreadOrder};
use serde_json::{Value, json};

use super::conditions::{Conditions, Filters, checked_flow_ids};
use crate::access;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// A page of the threads. It has fewer than `limit` threads if some are not served.
pub(crate) async fn list(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let conditions = Conditions::read(request.uri())?;
    let flows = checked_flow_ids(&server, &conditions)?;
    let filters = Filters::new(&conditions, &flows);
    let all = filters.all(&conditions);
    let mut query = filters.query(&conditions, &all, &access)?;
    let limit = request::page_size(conditions.limit);
    query.limit = Some(limit);
    let found = server.list(query).await?;
    let next = found.get(limit - 1).map(|last| match query.order {
        ThreadOrder::Id => last.id.clone(),
        by_time => format!("{}:{}", by_time.time_of(last), last.id),
    });
    // A store lists a damaged thread whatever its labels are.
    let is_seen = |info: &&ThreadInfo| access.allows(&info.labels);
    let seen: Vec<&ThreadInfo> = found.iter().filter(is_seen).collect();
    let mut troubles = server.troubles(&seen).await;
    let threads = seen.iter().filter_map(|info| {
        let flow = server.flow_of(info)?;
        let mut listed = listed(info, &flow);
        if let Some(trouble) = troubles.remove(&info.id) {
            listed["trouble"] = trouble;
        }
        Some(listed)
    });
    Ok(Json(
        json!({ "threads": threads.collect::<Value>(), "next": next }),
    ))
}

/// How many threads of each flow have each status.
pub(crate) async fn counts(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let conditions = Conditions::read(request.uri())?;
    let flows = checked_flow_ids(&server, &conditions)?;
    let filters = Filters::new(&conditions, &flows);
    let all = filters.all(&conditions);
    let query = filters.query(&conditions, &all, &access)?;
    let mut counts = BTreeMap::new();
    for count in server.counts(query).await? {
        *counts.entry((count.flow, count.status)).or_insert(0) += count.threads;
    }
    let counts = counts.into_iter().map(
        |((flow, status), threads)| json!({ "flow": flow, "status": status.as_str(), "threads": threads }),
    );
    Ok(Json(json!({ "counts": counts.collect::<Value>() })))
}

fn listed(info: &ThreadInfo, flow: &str) -> Value {
    let mut listed = json!(info);
    listed["flow"] = flow.into();
    listed["damage"] = json!(info.damage);
    listed
}
