//! The addresses of the memory.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query as UriQuery, Request, State};
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use axum::{Json, Router};
use petalflow_memory::{Filter, Memory, Namespace, Query};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refused::refused;
use crate::access;
use crate::memory::Part;
use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// The addresses.
pub(crate) fn routes() -> Router<Arc<Inner>> {
    let entry = get(show).put(write).delete(delete);
    Router::new()
        .route("/memory", get(list))
        .route("/memory/search", get(search))
        .route("/memory/entry", entry)
}

/// The parameters of a request. Names of a namespace and keys may have any characters, so they are no parts of the path.
#[derive(Debug, Default)]
struct Parameters {
    namespace: Vec<String>,
    key: Option<String>,
    text: Option<String>,
    filter: Option<Filter>,
    after: Option<String>,
    limit: Option<usize>,
}

impl Parameters {
    /// Reads those of an address that takes these.
    fn read(uri: &Uri, taken: &[&str]) -> Result<Self, Refusal> {
        let pairs = UriQuery::<Vec<(String, String)>>::try_from_uri(uri);
        let UriQuery(pairs) = pairs.map_err(|error| wrong(error.body_text()))?;
        let mut parameters = Parameters::default();
        for (name, value) in pairs {
            if !taken.contains(&&*name) {
                let taken = taken.join("`, `");
                return Err(wrong(format!(
                    "unknown field `{name}`, expected one of `{taken}`"
                )));
            }
            match &*name {
                "namespace" => parameters.namespace.push(value),
                "key" => parameters.key = Some(value),
                "text" => parameters.text = Some(value),
                "after" => parameters.after = Some(value),
                "limit" => {
                    let limit = value.parse();
                    let problem = |_| wrong(format!("`limit={value}` is not a number from 0"));
                    parameters.limit = Some(limit.map_err(problem)?);
                }
                _ => {
                    let filter = serde_json::from_str(&value);
                    let problem = |error| wrong(format!("`filter` is no filter in JSON: {error}"));
                    parameters.filter = Some(filter.map_err(problem)?);
                }
            }
        }
        Ok(parameters)
    }

    fn namespace(&self) -> Namespace {
        self.namespace.iter().cloned().collect()
    }

    fn key(&self) -> Result<&str, Refusal> {
        let key = self.key.as_deref();
        key.ok_or_else(|| wrong("`key` is missing: send the key of the entry".into()))
    }
}

fn wrong(problem: String) -> Refusal {
    let text = format!("the query cannot be read: {problem}");
    Refusal::new(StatusCode::BAD_REQUEST, text)
}

/// The part of the memory that the caller sees.
fn part(server: &Inner, request: &Request) -> Result<Part, Refusal> {
    let memory = server.settings.memory.as_ref();
    let memory = memory.ok_or_else(|| Refusal::not_found("this server has no memory"))?;
    memory.part(&access::of(request))
}

/// A page of the entries of a namespace and of those below it.
async fn list(State(server): State<Arc<Inner>>, request: Request) -> Result<Json<Value>, Refusal> {
    let taken = ["namespace", "filter", "after", "limit"];
    let parameters = Parameters::read(request.uri(), &taken)?;
    let part = part(&server, &request)?;
    let after =
        match &parameters.after {
            Some(text) => Some(part.cursor(text).ok_or_else(|| {
                wrong("`after` is no place: use `next` of the page before".into())
            })?),
            None => None,
        };
    let mut query = Query::new()
        .under(parameters.namespace())
        .after(after)
        .limit(request::page_size(parameters.limit));
    if let Some(filter) = parameters.filter {
        query = query.filter(filter);
    }
    let page = part.memory.query(query).await;
    let page = page.map_err(|error| refused(&error))?;
    let entries: Vec<Value> = page.entries.iter().map(|entry| part.shown(entry)).collect();
    let next = page.next.as_ref().map(|next| part.shown_cursor(next));
    Ok(Json(json!({ "entries": entries, "next": next })))
}

/// The entries that are nearest to a text, the nearest first.
async fn search(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let parameters = Parameters::read(request.uri(), &["namespace", "text", "limit"])?;
    let part = part(&server, &request)?;
    let text = parameters.text.as_deref();
    let text = text.ok_or_else(|| wrong("`text` is missing: send what to search for".into()))?;
    let limit = request::page_size(parameters.limit);
    let within = part.memory.within(parameters.namespace());
    let hits = within.search(text, limit).await;
    let hits = hits.map_err(|error| refused(&error))?;
    let hits = hits.iter();
    let hits = hits.map(|hit| json!({ "entry": part.shown(&hit.entry), "score": hit.score }));
    Ok(Json(json!({ "hits": hits.collect::<Vec<_>>() })))
}

/// The entry of a request: its memory, its key, and what the caller sees.
fn entry(server: &Inner, request: &Request) -> Result<(Part, Memory, String), Refusal> {
    let parameters = Parameters::read(request.uri(), &["namespace", "key"])?;
    let part = part(server, request)?;
    let memory = part.memory.within(parameters.namespace());
    Ok((part, memory, parameters.key()?.to_string()))
}

async fn show(State(server): State<Arc<Inner>>, request: Request) -> Result<Json<Value>, Refusal> {
    let (part, memory, key) = entry(&server, &request)?;
    read(&part, &memory, &key).await
}

async fn read(part: &Part, memory: &Memory, key: &str) -> Result<Json<Value>, Refusal> {
    let found = memory.get(key).await.map_err(|error| refused(&error))?;
    let found = found.ok_or_else(no_entry)?;
    Ok(Json(part.shown(&found)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    value: Value,
    /// How long it is kept, in seconds. `None`: until it is deleted.
    ttl_seconds: Option<NonZeroU64>,
}

/// Writes an entry, which replaces one with the same key.
async fn write(State(server): State<Arc<Inner>>, request: Request) -> Result<Json<Value>, Refusal> {
    let (part, memory, key) = entry(&server, &request)?;
    let limit = server.settings.limits.max_input_bytes;
    let Written { value, ttl_seconds } = request::json(request, limit, &server).await?;
    // It is written also if the client disconnects.
    let written = async move {
        let written = match ttl_seconds {
            Some(seconds) => {
                memory
                    .put_for(&key, value, Duration::from_secs(seconds.get()))
                    .await
            }
            None => memory.put(&key, value).await,
        };
        written.map_err(|error| refused(&error))?;
        read(&part, &memory, &key).await
    };
    server.run_detached(written).await
}

async fn delete(State(server): State<Arc<Inner>>, request: Request) -> Result<StatusCode, Refusal> {
    let (_, memory, key) = entry(&server, &request)?;
    let deleted = async move { memory.delete(&key).await.map_err(|error| refused(&error)) };
    if server.run_detached(deleted).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(no_entry())
    }
}

fn no_entry() -> Refusal {
    Refusal::not_found("there is no such entry")
}
