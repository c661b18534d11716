//! The responses of an operation.

use serde_json::{Map, Value, json};

use super::operations::Operation;

/// What any request can be refused with.
const ALWAYS: [&str; 7] = ["400", "401", "403", "431", "500", "501", "503"];

/// What a request that needs no token can be refused with.
const OF_PUBLIC: [&str; 5] = ["400", "403", "431", "501", "503"];

/// The responses, by status.
pub(super) fn of(operation: &Operation) -> Map<String, Value> {
    let mut responses = Map::new();
    let always: &[&str] = if operation.is_public {
        &OF_PUBLIC
    } else {
        &ALWAYS
    };
    for status in operation.refusals.iter().chain(always) {
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
    if operation.method == "get" && operation.waits {
        let running = "The thread does not rest yet.";
        let running = json!({ "description": running, "content": content("Begun") });
        responses.insert("202".into(), running);
    } else if operation.waits {
        let ended = "The run has ended while the client waited.";
        let ended = json!({ "description": ended, "content": content("Begun") });
        responses.insert("200".into(), ended);
        let failed = "The run has failed while the client waited, or the store has damaged data.";
        let schemas = ["Begun", "Error"].map(reference);
        let content = json!({ "application/json": { "schema": { "anyOf": schemas } } });
        responses.insert(
            "500".into(),
            json!({ "description": failed, "content": content }),
        );
    }
    responses
}

/// The media type of a body with this schema.
pub(super) fn content(schema: &str) -> Value {
    match schema {
        "svg" => json!({ "image/svg+xml": { "schema": { "type": "string" } } }),
        "events" => json!({ "text/event-stream": { "schema": reference("EventMessage") } }),
        "metrics" => json!({ "application/openmetrics-text": { "schema": { "type": "string" } } }),
        "any" => json!({ "application/json": { "schema": {} } }),
        "any or a stream" => json!({
            "application/json": { "schema": {} },
            "text/event-stream": { "schema": {} },
        }),
        "a stream" => json!({ "text/event-stream": { "schema": {} } }),
        schema => json!({ "application/json": { "schema": reference(schema) } }),
    }
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn meaning(status: &str) -> &'static str {
    match status {
        "204" => "No event will follow.",
        "400" => "The request cannot be read.",
        "401" => "The token is missing or wrong.",
        "403" => "The server does not answer to this host, or the caller may not do this.",
        "404" => "There is no such flow, thread, checkpoint or schedule.",
        "408" => "The body took too long.",
        "409" => "Another caller was faster, or the thread is busy.",
        "413" => "The body is too large.",
        "422" => "The body does not fit.",
        "431" => "The headers are too large.",
        "500" => "The store has damaged data.",
        "501" => "The transfer encoding is not known.",
        _ => "A limit is reached, the store cannot be reached, or the server stops.",
    }
}
