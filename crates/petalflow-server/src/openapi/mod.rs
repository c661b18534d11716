//! The interface as an OpenAPI document.

mod operations;
mod schemas;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use crate::server::Inner;
use operations::{OF_METRICS, OF_SCHEDULES, OPERATIONS, Operation};
pub(crate) use schemas::STATUSES;

/// The document, with the schemas of the flows of this server.
pub(crate) async fn document(State(server): State<Arc<Inner>>) -> Json<Value> {
    Json(build(&server))
}

fn build(server: &Inner) -> Value {
    let settings = &server.settings;
    let mut schemas = schemas::all();
    for flow in &settings.flows {
        let flow = flow.description();
        let name = flow["name"].as_str().unwrap_or_default();
        let schema = match &flow["input"] {
            Value::Null => json!({}),
            schema => schema.clone(),
        };
        schemas.insert(format!("input.{name}"), schema);
    }
    let mut paths = Map::new();
    for operation in OPERATIONS.iter().chain(OF_METRICS).chain(OF_SCHEDULES) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(operation);
    }
    for hook in &settings.hooks {
        paths.insert(hook.path(), json!({ "post": webhook() }));
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "petalflow", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// What any request can be refused with.
const ALWAYS: [&str; 4] = ["401", "403", "431", "503"];

fn described(operation: &Operation) -> Value {
    let names = operation.path.split(['{', '}']).skip(1).step_by(2);
    let in_path = names.map(|name| parameter(name, "path"));
    let in_query = operation.query.iter().map(|name| parameter(name, "query"));
    let mut responses = Map::new();
    for status in operation.refusals.iter().chain(&ALWAYS) {
        let description = meaning(status);
        let response = match *status {
            "204" => json!({ "description": description }),
            _ => json!({ "description": description, "content": content("Error") }),
        };
        responses.insert((*status).to_string(), response);
    }
    let (status, schema) = operation.response;
    let mut response = json!({ "description": operation.summary });
    if !schema.is_empty() {
        response["content"] = content(schema);
    }
    responses.insert(status.to_string(), response);
    if operation.body == Some("Definition") {
        let new = json!({ "description": "It is new.", "content": content(schema) });
        responses.insert("201".into(), new);
    }
    let mut in_headers = Vec::new();
    if operation.keyed {
        in_headers.push(parameter("Idempotency-Key", "header"));
    }
    if operation.method == "get" && operation.waits {
        in_headers.push(parameter("Prefer", "header"));
        let running = "The thread does not rest yet.";
        let running = json!({ "description": running, "content": content("Begun") });
        responses.insert("202".into(), running);
    } else if operation.waits {
        in_headers.push(parameter("Prefer", "header"));
        let ended = "The run has ended while the client waited.";
        let ended = json!({ "description": ended, "content": content("Begun") });
        responses.insert("200".into(), ended);
        let failed = "The run has failed while the client waited.";
        responses.insert("500".into(), json!({ "description": failed }));
    }
    let mut value = json!({
        "summary": operation.summary,
        "parameters": in_path.chain(in_query).chain(in_headers).collect::<Value>(),
        "responses": responses,
    });
    if let Some(body) = operation.body {
        value["requestBody"] = json!({ "required": true, "content": content(body) });
    }
    value
}

/// The media type of a body with this schema.
fn content(schema: &str) -> Value {
    match schema {
        "svg" => json!({ "image/svg+xml": {} }),
        "events" => json!({ "text/event-stream": {} }),
        "metrics" => json!({ "application/openmetrics-text": {} }),
        schema => {
            let reference = format!("#/components/schemas/{schema}");
            json!({ "application/json": { "schema": { "$ref": reference } } })
        }
    }
}

fn parameter(name: &str, place: &str) -> Value {
    let schema = match name {
        "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }),
        "until" => json!({ "enum": ["rest", "end"], "default": "rest" }),
        name if name.ends_with("_ms") => json!({ "type": "integer", "minimum": 0 }),
        "flow" | "label" | "any_label" | "not_label" if place == "query" => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        "order" => schemas::order(),
        "before" | "checkpoint" | "seconds" => json!({ "type": "integer", "minimum": 0 }),
        "status" => json!({ "type": "array", "items": schemas::status() }),
        _ => json!({ "type": "string" }),
    };
    let description = match name {
        "flow" if place == "query" => "Only threads of one of these flows.",
        "flow" => "The name of a flow.",
        "thread" => "The id of a thread.",
        "question" => "The id of a question.",
        "schedule" => "The name of a schedule.",
        "checkpoint" => "The number of a checkpoint.",
        "status" => "Only threads with one of these statuses.",
        "label" => "Only threads with all of these labels, as `name:value`.",
        "any_label" => "Only threads with one of these labels, as `name:value`.",
        "not_label" => "Only threads with none of these labels, as `name:value`.",
        "prefix" => "Only ids that begin with this text.",
        "Idempotency-Key" => {
            "An identifier of the request. A repetition gets the answer of the first one."
        }
        "seconds" => "How long the response may wait. By default as long as the server allows.",
        "until" => {
            "`end`: until the thread has ended or is held. `rest`: also until it waits for a person, or sleeps."
        }
        "created_from_ms" => {
            "Only threads that were created at this time or later, in milliseconds since 1970 (UTC)."
        }
        "created_before_ms" => {
            "Only threads that were created before this time, in milliseconds since 1970 (UTC)."
        }
        "updated_from_ms" => {
            "Only threads that changed last at this time or later, in milliseconds since 1970 (UTC)."
        }
        "updated_before_ms" => {
            "Only threads that changed last before this time, in milliseconds since 1970 (UTC)."
        }
        "order" => "The order of the list.",
        "after" => "Where the page begins: `next` of the page before.",
        "Prefer" => "`wait=SECONDS`: how long the response may wait for the end of the run.",
        "before" => "Only checkpoints before this one: for the next page.",
        _ => "The largest number of items.",
    };
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "description": description,
        "schema": schema,
    })
}

fn meaning(status: &str) -> &'static str {
    match status {
        "204" => "No event will follow.",
        "400" => "The request cannot be read.",
        "401" => "The token is missing or wrong.",
        "403" => "The server does not answer to this host, or the caller may not see threads.",
        "404" => "There is no such flow, thread, checkpoint or schedule.",
        "409" => "Another caller was faster, or the thread is busy.",
        "413" => "The body is too large.",
        "422" => "The body does not fit.",
        "431" => "The headers are too large.",
        _ => "A limit is reached, the store cannot be reached, or the server stops.",
    }
}

/// A trigger, whose body is what the trigger accepts.
fn webhook() -> Value {
    json!({
        "summary": "Starts a thread of a document. The response is sent when the input is stored.",
        "responses": {
            "202": { "description": "The input is stored.", "content": content("Thread") },
        },
    })
}
