//! Which finished threads are kept, over HTTP.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::access;
use crate::refusal::Refusal;
use crate::request;
use crate::retention::{Rule, ThreadRetention};
use crate::server::Inner;

/// The addresses.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new()
        .route("/retention", get(list))
        .route("/retention/{flow}", put(set).delete(reset))
}

/// The rules of all flows whose threads are in the store.
async fn list(State(server): State<Arc<Inner>>, request: Request) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let settings = &server.settings;
    let flows = settings.flows.iter();
    let flows = flows.filter(|flow| flow.elsewhere().is_none());
    let mut names: Vec<&str> = flows.map(|flow| &*flow.facts().name).collect();
    names.extend(server.hook_flows().map(|hook| &*hook.workflow));
    let mut rules = Vec::new();
    for flow in names {
        rules.push(shown(flow, settings.retention.of(flow).await?));
    }
    Ok(Json(json!({ "retention": rules })))
}

/// Sets the rule of a flow.
async fn set(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    let limit = server.settings.limits.max_answer_bytes;
    let retention: ThreadRetention = request::json(request, limit, &server).await?;
    must_be_here(&server, &flow)?;
    let rules = &server.settings.retention;
    rules.set(&flow, retention).await?;
    Ok(Json(shown(&flow, rules.of(&flow).await?)))
}

/// Goes back to the rule of the program.
async fn reset(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    sees_all(&request)?;
    must_be_here(&server, &flow)?;
    let rules = &server.settings.retention;
    rules.reset(&flow).await?;
    Ok(Json(shown(&flow, rules.of(&flow).await?)))
}

fn sees_all(request: &Request) -> Result<(), Refusal> {
    access::must_see_all(request, "the retention of threads")
}

/// Fails if there is no such flow, or if its threads are not in the store.
fn must_be_here(server: &Inner, flow: &str) -> Result<(), Refusal> {
    server.shown_flow(flow)?;
    let is_elsewhere = server
        .flow(flow)
        .is_ok_and(|flow| flow.elsewhere().is_some());
    if is_elsewhere {
        let text = format!("an engine keeps the threads of `{flow}`: set their retention there");
        return Err(Refusal::new(StatusCode::CONFLICT, text));
    }
    Ok(())
}

fn shown(flow: &str, rule: Rule) -> Value {
    let mut value = json!(rule.retention);
    value["flow"] = flow.into();
    value["source"] = rule.source.into();
    value
}
