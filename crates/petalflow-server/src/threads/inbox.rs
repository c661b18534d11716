//! The inbox: everything that threads wait for, over all flows, oldest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use petalflow::checkpoint::{ThreadFilter, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::conditions::{FlowIds, filter, flow_ids, label, wrong};
use crate::access;
use crate::asking::{self, ASKING};
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// Which threads are in the inbox.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Query {
    /// The name of a flow.
    flow: String,
    /// `name:value`.
    label: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// A page ends with the thread with which it has this many items.
    limit: Option<usize>,
}

/// Since when a thread waits, and its id: the order of the inbox. A thread that comes later does not move the others, so pages
/// stay right.
type Position = (u64, String);

/// A page of what threads wait for. It has no more than `limit` items, unless its only thread has more.
pub(crate) async fn inbox(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let query: Query = request::query(request.uri())?;
    let limit = request::page_size(query.limit);
    let after = query.after.as_deref().map(position).transpose()?;
    let flows: Vec<String> = (!query.flow.is_empty())
        .then(|| query.flow.clone())
        .into_iter()
        .collect();
    let flows = flow_ids(&server, &flows)?;
    let label = query.label.as_deref().map(label).transpose()?;
    // Two queries: each is answered by an index.
    let (mut found, mut threads) = (Vec::new(), 0);
    for waits in [ThreadFilter::Status(ThreadStatus::Waiting), ASKING] {
        let conditions: Vec<ThreadFilter<'_>> = [waits]
            .into_iter()
            .chain(flows.iter().map(FlowIds::filter))
            .chain(label.iter().map(filter))
            .collect();
        let mut waiting = ThreadQuery {
            filter: Some(ThreadFilter::All(&conditions)),
            label: access.required(),
            order: ThreadOrder::UpdatedOldest,
            ..ThreadQuery::default()
        };
        let counts = server.counts(waiting).await?;
        threads += counts.iter().map(|count| count.threads).sum::<u64>();
        if let Some((since_ms, thread)) = &after {
            (waiting.after_ms, waiting.after) = (*since_ms, Some(thread.as_str()));
        }
        // Each thread has at least one item, or is not waiting any more. One thread more tells whether another page follows.
        waiting.limit = Some(limit + 1);
        found.extend(server.list(waiting).await?);
    }
    ThreadOrder::UpdatedOldest.sort(&mut found);
    // The run of one that asks may just have ended.
    found.dedup_by(|one, other| one.id == other.id);
    let (mut items, mut next) = (Vec::new(), None);
    let mut has_more = found.len() > limit;
    found.truncate(limit);
    for info in &found {
        let mut of_thread = Vec::new();
        // Of a damaged thread, only the id is known. The store may have threads of flows that are not served.
        let is_served = server.flow_of(info).is_some();
        if info.damage.is_none() && access.allows(&info.labels) && is_served {
            of_thread = items_of(&server, info).await?;
            if of_thread.is_empty() && asking::is_asking(info) {
                server.settle_asking_soon(info.id.clone());
            }
        }
        if !items.is_empty() && items.len() + of_thread.len() > limit {
            has_more = true;
            break;
        }
        items.extend(of_thread);
        next = Some((info.updated_ms, &info.id));
    }
    let next = next.filter(|_| has_more);
    let next = next.map(|(since_ms, thread)| format!("{since_ms}:{thread}"));
    Ok(Json(
        json!({ "items": items, "next": next, "threads": threads }),
    ))
}

/// What a thread waits for, oldest first. Nothing if it has been answered in the meantime.
async fn items_of(server: &Inner, info: &ThreadInfo) -> Result<Vec<Value>, Refusal> {
    let waiting = ThreadStatus::Waiting.as_str();
    let working = ThreadStatus::Running.as_str();
    let flow = server.reader(&info.id).await?;
    let Some(mut view) = flow.view(&info.id, None).await? else {
        return Ok(Vec::new());
    };
    if view["status"] != waiting && view["status"] != working {
        return Ok(Vec::new());
    }
    let Value::Array(mut items) = view["waits"].take() else {
        return Ok(Vec::new());
    };
    // The program with the types of the flow may not be here.
    let answerable = server.owner(&info.id).await.is_ok();
    items.sort_by_key(|item| item["asked_ms"].as_u64());
    for item in &mut items {
        item["thread"] = info.id.clone().into();
        item["flow"] = view["flow"].clone();
        item["labels"] = json!(info.labels);
        item["answerable"] = answerable.into();
    }
    Ok(items)
}

/// The position that `next` of a page names.
fn position(text: &str) -> Result<Position, Refusal> {
    let position = text
        .split_once(':')
        .and_then(|(since_ms, thread)| Some((since_ms.parse().ok()?, thread.to_string())));
    position.ok_or_else(|| {
        wrong(format!(
            "`after` is `{text}`, which is no position: send `next` of the page before"
        ))
    })
}
