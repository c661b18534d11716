//! The flows that a server serves.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use petalflow::checkpoint::{ThreadCount, ThreadQuery};
use serde_json::{Value, json};

use crate::access;
use crate::hook::Hook;
use crate::refusal::Refusal;
use crate::served::ReadThreads;
use crate::server::{Inner, prefix};

/// All flows, with how many threads of each have each status, as far as the caller may see them.
pub(crate) async fn list(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let all = ThreadQuery {
        label: access.required(),
        ..ThreadQuery::default()
    };
    // The flows are known without the store.
    let counts = server.counts(all).await.ok();
    let served = server.settings.flows.iter();
    let served = served.map(|flow| flow.description());
    let hooks = server.hook_flows();
    let hooks = hooks.map(|hook| described(&server, &*hook.threads));
    let stored = server.stored_flows().await?;
    let stored = stored.iter().map(ReadThreads::description);
    let flows = served.chain(hooks).chain(stored);
    let flows = flows.map(|flow| with_counts(flow, counts.as_deref()));
    Ok(Json(json!({ "flows": flows.collect::<Value>() })))
}

/// One flow, with how many of its threads have each status.
pub(crate) async fn show(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let access = access::of(&request);
    let all = ThreadQuery {
        label: access.required(),
        ..ThreadQuery::default()
    };
    if let (Err(unknown), Some(_)) = (server.shown_flow(&flow), &server.settings.stored) {
        let stored = server.stored_flows().await?;
        let mut stored = stored.iter();
        let found = stored.find(|stored| stored.facts().name == flow);
        let description = found.ok_or(unknown)?.description();
        let of_flow = ThreadQuery {
            flow: Some(&flow),
            ..all
        };
        let counts = server.counts(of_flow).await.ok();
        return Ok(Json(with_counts(description, counts.as_deref())));
    }
    let shown = server.shown_flow(&flow)?;
    let prefix = prefix(shown.facts());
    let of_flow = ThreadQuery {
        prefix: &prefix,
        ..all
    };
    let counts = server.counts(of_flow).await.ok();
    let description = described(&server, shown);
    Ok(Json(with_counts(description, counts.as_deref())))
}

/// The flow for clients, with the addresses of the webhooks that start it.
fn described(server: &Inner, flow: &dyn ReadThreads) -> Value {
    let mut description = flow.description();
    let webhooks: Vec<String> = server
        .hooks_of(&flow.facts().name)
        .map(Hook::path)
        .collect();
    if !webhooks.is_empty() {
        description["webhooks"] = json!(webhooks);
    }
    description
}

/// Adds how many threads of a flow have each status.
fn with_counts(mut flow: Value, counts: Option<&[ThreadCount]>) -> Value {
    if let Some(counts) = counts {
        let mut by_status: BTreeMap<&str, u64> = BTreeMap::new();
        for count in counts.iter().filter(|count| flow["name"] == *count.flow) {
            *by_status.entry(count.status.as_str()).or_default() += count.threads;
        }
        flow["threads"] = json!(by_status);
    }
    flow
}

/// The drawing of its graph.
pub(crate) async fn drawing(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
) -> Result<impl IntoResponse, Refusal> {
    if server.is_stored(&flow) {
        let text = format!("the graph of `{flow}` is not known: its program is not here");
        return Err(Refusal::not_found(text));
    }
    let drawing = server.shown_flow(&flow)?.facts().drawing.clone();
    Ok(([(CONTENT_TYPE, "image/svg+xml")], drawing))
}
