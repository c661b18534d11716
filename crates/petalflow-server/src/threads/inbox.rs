//! The inbox: everything that threads wait for, over all flows, oldest first.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use petalflow::checkpoint::{ThreadInfo, ThreadQuery, ThreadStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::list::label;
use crate::access::{self, Access};
use crate::refusal::Refusal;
use crate::request;
use crate::server::{Inner, PAGE};

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

/// The oldest threads after a position, and how many wait in all.
struct Waiting {
    oldest: BTreeMap<Position, ThreadInfo>,
    count: usize,
    /// Whether more threads follow.
    has_more: bool,
}

/// A page of what threads wait for. It has no more than `limit` items, unless its only thread has more.
pub(crate) async fn inbox(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let query: Query = request::query(request.uri())?;
    let limit = request::page_size(query.limit);
    let after = query.after.as_deref().map(position).transpose()?;
    let waiting = waiting(&server, &access, &query, after.as_ref(), limit).await?;
    let (mut items, mut next) = (Vec::new(), None);
    let mut has_more = waiting.has_more;
    for (position, info) in waiting.oldest {
        let of_thread = items_of(&server, &info).await?;
        if !items.is_empty() && items.len() + of_thread.len() > limit {
            has_more = true;
            break;
        }
        items.extend(of_thread);
        next = Some(position);
    }
    let next = next.filter(|_| has_more);
    let next = next.map(|(since_ms, thread)| format!("{since_ms}:{thread}"));
    Ok(Json(
        json!({ "items": items, "next": next, "threads": waiting.count }),
    ))
}

/// Reads the waiting threads page by page, and keeps the oldest ones, so that the memory does not depend on their number.
async fn waiting(
    server: &Inner,
    access: &Access,
    query: &Query,
    after: Option<&Position>,
    limit: usize,
) -> Result<Waiting, Refusal> {
    let label = query.label.as_deref().map(label).transpose()?;
    let mut waiting = Waiting {
        oldest: BTreeMap::new(),
        count: 0,
        has_more: false,
    };
    let mut last: Option<String> = None;
    loop {
        let page = ThreadQuery {
            after: last.as_deref(),
            limit: Some(PAGE),
            status: Some(ThreadStatus::Waiting),
            // The store compares one label. The required one leaves fewer threads.
            label: access.required().or(label),
            ..ThreadQuery::default()
        };
        let found = server.list(page).await?;
        let is_last = found.len() < PAGE;
        last = found.last().map(|info| info.id.clone());
        for info in found {
            let has_label = label
                .is_none_or(|(name, value)| info.labels.get(name).is_some_and(|it| it == value));
            // Of a damaged thread, only the id is known.
            let is_whole = info.damage.is_none() && access.allows(&info.labels);
            let flow = server.flow_of(&info);
            let is_of_flow = flow.is_some_and(|flow| query.flow.is_empty() || flow == query.flow);
            if !(is_whole && has_label && is_of_flow) {
                continue;
            }
            waiting.count += 1;
            let position = (info.updated_ms, info.id.clone());
            if after.is_some_and(|after| position <= *after) {
                continue;
            }
            waiting.oldest.insert(position, info);
            // Each thread has at least one item, or is not waiting any more.
            if waiting.oldest.len() > limit {
                waiting.oldest.pop_last();
                waiting.has_more = true;
            }
        }
        if is_last {
            return Ok(waiting);
        }
    }
}

/// What a thread waits for, oldest first. Nothing if it has been answered in the meantime.
async fn items_of(server: &Inner, info: &ThreadInfo) -> Result<Vec<Value>, Refusal> {
    let flow = server.reader(&info.id).await?;
    let Some(mut view) = flow.view(&info.id, None).await? else {
        return Ok(Vec::new());
    };
    if view["status"] != ThreadStatus::Waiting.as_str() {
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
        super::list::wrong(format!(
            "`after` is `{text}`, which is no position: send `next` of the page before"
        ))
    })
}
